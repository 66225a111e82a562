package dev.loadline.guard;

import dev.loadline.guard.cpu.VirtualThreads;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One connection while threads run for it, one run at a time: tells the guard what each run cost. An adapter calls {@link #begin}
 * and {@link #end} around whatever a thread does for it. No method throws.
 */
public final class Serving {
    private static final ThreadLocal<Serving> CURRENT = new ThreadLocal<>();

    private final GuardedConnection connection;
    private final AtomicReference<Turns.Turn> turn = new AtomicReference<>();
    /** For how many runs this one stands of which the CPU time is not asked; 0: it is one of those. */
    private int standsFor;
    private long beginNanos;
    private long handshakeNanos;
    private long apartNanos;

    /** Work that another guard tells of. */
    public interface Apart {
        /** It is done, on the thread that began it. */
        void over();
    }

    public Serving(GuardedConnection connection) {
        this.connection = connection;
    }

    /** The connection that this thread works for; null when it is not known (HTTP/2 streams, dispatches). */
    public static GuardedConnection current() {
        Serving serving = CURRENT.get();
        return serving == null ? null : serving.connection;
    }

    /** Whether this thread works for a connection that a guard answers for. */
    public static boolean isGuarded() {
        GuardedConnection now = current();
        return now != null && now.enforced();
    }

    /** What this thread does from now on is a stream's, of which another guard tells, and not its connection's. */
    public static Apart apart() {
        Serving serving = CURRENT.get();
        if (serving == null || serving.standsFor == 0) {
            return () -> { };
        }
        long begin = VirtualThreads.threadNanos();
        return () -> serving.apartNanos += VirtualThreads.threadNanos() - begin;
    }

    public GuardedConnection connection() {
        return connection;
    }

    /**
     * Whether its handshake has to wait for its turn to compute.
     *
     * @param guard null for none: nobody waits
     * @param key of the connection, for a recording
     * @param goOn hands it to a worker and returns: called when its turn has come, if it has to wait
     */
    public boolean waits(Guard guard, long key, Runnable goOn) {
        if (guard == null || !connection.computesInFull()) {
            return false;
        }
        Turns.Turn next = guard.turns().turn(key, () -> {
            connection.turnCame();
            goOn.run();
        });
        turn.set(next);
        return !next.enter();
    }

    /** Lets the next one compute: its event ran, or never will. */
    public void turnOver() {
        Turns.Turn held = turn.getAndSet(null);
        if (held != null) {
            held.over();
        }
    }

    public void begin() {
        connection.begun();
        runs();
    }

    /** In place of {@link #begin}, on another thread than that on which the event came: it has been handed over, and waited for that alone. */
    public void goOn() {
        connection.wentOn();
        runs();
    }

    private void runs() {
        handshakeNanos = 0;
        apartNanos = 0;
        standsFor = connection.standsFor();
        beginNanos = standsFor == 0 ? 0 : VirtualThreads.threadNanos();
        CURRENT.set(this);
    }

    /** All of this run was the handshake, until now. */
    public void handshakeRanSoFar() {
        if (standsFor > 0) {
            long nanos = VirtualThreads.threadNanos() - beginNanos - handshakeNanos;
            handshakeNanos += nanos;
            connection.handshakeRan(nanos);
        }
    }

    public void end() {
        CURRENT.remove();
        turnOver();
        connection.done();
        if (standsFor > 0 && connection.outcome() != null) {
            connection.requestsRan(standsFor * (VirtualThreads.threadNanos() - beginNanos - handshakeNanos - apartNanos));
        }
    }
}
