package dev.loadline.agent.probes;

import dev.loadline.agent.boot.AppProbes;
import dev.loadline.agent.boot.Type;
import net.bytebuddy.asm.Advice;

/** Fills the methods of {@code dev.loadline.Loadline}. */
final class AppAdvice {
    private AppAdvice() {}

    static final class State {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) String name) {
            AppProbes.named(Type.APP_STATE, name);
        }
    }

    static final class Push {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) String name) {
            AppProbes.named(Type.APP_PUSH, name);
        }
    }

    static final class Pop {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            AppProbes.pop();
        }
    }

    static final class Event {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) String type, @Advice.Argument(1) long value) {
            AppProbes.event(type, value);
        }
    }

    static final class SpanBegin {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(0) String name, @Advice.Return(readOnly = false) long id) {
            id = AppProbes.spanBegin(name);
        }
    }

    static final class SpanEnd {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) long id) {
            AppProbes.spanEnd(id);
        }
    }
}
