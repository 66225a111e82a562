package dev.loadline.guard;

import java.util.function.Consumer;

/** Tells a recording of Loadline which handshakes wait for their turn, as marks whose value is the connection's key. */
record HandshakeWaits(Consumer<Throwable> failures) implements Turns.Told {
    @Override
    public void waits(long key) {
        mark("guard handshake waits", key);
    }

    @Override
    public void goesOn(long key) {
        mark("guard handshake goes on", key);
    }

    private void mark(String type, long key) {
        try {
            Trace.event(type, key);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    @Override
    public void failed(Throwable e) {
        failures.accept(e);
    }
}
