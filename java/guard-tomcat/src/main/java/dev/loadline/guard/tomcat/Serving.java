package dev.loadline.guard.tomcat;

import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.Turns;
import dev.loadline.guard.cpu.VirtualThreads;
import java.util.concurrent.atomic.AtomicReference;

/** One connection while a worker runs for it: tells the guard what the run cost. */
final class Serving {
    private static final ThreadLocal<Serving> CURRENT = new ThreadLocal<>();

    private final GuardedConnection connection;
    private final AtomicReference<Turns.Turn> turn = new AtomicReference<>();
    private long beginNanos;
    private long handshakeNanos;

    Serving(GuardedConnection connection) {
        this.connection = connection;
    }

    /** The connection that this thread works for; null when it is not known (HTTP/2 streams, dispatches). */
    static GuardedConnection current() {
        Serving serving = CURRENT.get();
        return serving == null ? null : serving.connection;
    }

    GuardedConnection connection() {
        return connection;
    }

    /** What it has to wait for before its handshake computes. */
    void turn(Turns.Turn next) {
        turn.set(next);
    }

    /** Lets the next one compute: its event ran, or never will. */
    void turnOver() {
        Turns.Turn held = turn.getAndSet(null);
        if (held != null) {
            held.over();
        }
    }

    void begin() {
        connection.begun();
        handshakeNanos = 0;
        beginNanos = VirtualThreads.threadNanos();
        CURRENT.set(this);
    }

    /** Part of this run was the handshake. */
    void handshakeRan(long threadNanos) {
        handshakeNanos += threadNanos;
        connection.handshakeRan(threadNanos);
    }

    void end() {
        CURRENT.remove();
        turnOver();
        connection.done();
        connection.requestsRan(VirtualThreads.threadNanos() - beginNanos - handshakeNanos);
    }
}
