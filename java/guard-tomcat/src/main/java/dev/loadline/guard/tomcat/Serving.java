package dev.loadline.guard.tomcat;

import dev.loadline.guard.GuardedConnection;

/** One connection while a worker runs for it: tells the guard what the run cost. */
final class Serving {
    private static final ThreadLocal<Serving> CURRENT = new ThreadLocal<>();

    private final GuardedConnection connection;
    private long beginCpuNanos;
    private long handshakeCpuNanos;

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

    void begin() {
        connection.begun();
        handshakeCpuNanos = 0;
        beginCpuNanos = GuardedEndpoint.cpuNanos();
        CURRENT.set(this);
    }

    /** Part of this run was the handshake. */
    void handshakeRan(long cpuNanos) {
        handshakeCpuNanos += cpuNanos;
        connection.handshakeRan(cpuNanos);
    }

    void end() {
        CURRENT.remove();
        connection.done();
        connection.requestsRan(GuardedEndpoint.cpuNanos() - beginCpuNanos - handshakeCpuNanos);
    }
}
