package dev.loadline;

import dev.loadline.agent.boot.AppProbes;
import dev.loadline.agent.boot.Type;

/**
 * Hands what an application says to the recording. The agent's jar carries it; it is defined beside
 * each copy of {@link Loadline}, whose loader sees the boot classes as every loader does.
 */
final class AgentRecorder implements Recorder {
    @Override
    public void state(String name) {
        AppProbes.named(Type.APP_STATE, name);
    }

    @Override
    public void push(String name) {
        AppProbes.named(Type.APP_PUSH, name);
    }

    @Override
    public void pop() {
        AppProbes.pop();
    }

    @Override
    public void event(String type, long value) {
        AppProbes.event(type, value);
    }

    @Override
    public long begin(String name) {
        return AppProbes.spanBegin(name);
    }

    @Override
    public void end(long id) {
        AppProbes.spanEnd(id);
    }
}
