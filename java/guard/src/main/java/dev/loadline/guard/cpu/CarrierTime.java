package dev.loadline.guard.cpu;

import java.util.concurrent.atomic.LongAdder;

/**
 * The CPU time of what ran on virtual threads, which only its wall time is known of: the CPU time of their carriers,
 * shared out. A handshake does not block: it ran all its wall time but what its carrier waited for a CPU. What that
 * leaves of the carriers' CPU time was the requests', by their wall time, which is longer by what they blocked for.
 *
 * <p>Of one event an estimate, by ratios of sums that forget exponentially. Of all requests of a tick it is known: a pause makes
 * all of them longer at once, and their estimates many times what they took.
 * {@link #handshake} and {@link #requests} from any thread; {@link #passed} from one.
 */
public final class CarrierTime {
    /** As long as a few hundred events take: at half of it the ratios scatter, at double they lag behind a new load. */
    private static final double MEMORY_SECONDS = 5;

    private final LongAdder handshakeWallNanos = new LongAdder();
    private final LongAdder requestWallNanos = new LongAdder();
    private double run;
    private double waited;
    private double handshakes;
    private double requests;
    /** CPU time of carriers that no request took yet. */
    private double left;
    private volatile double perHandshake = 1;
    private volatile double perRequest = 1;

    /** CPU time of a part of a handshake. */
    public long handshake(long wallNanos) {
        handshakeWallNanos.add(wallNanos);
        return (long) (wallNanos * perHandshake);
    }

    /** CPU time of a request, or of anything else beside handshakes: about so much. */
    public long requests(long wallNanos) {
        requestWallNanos.add(wallNanos);
        return (long) (wallNanos * perRequest);
    }

    /**
     * A tick ended.
     *
     * @param runNanos CPU time of the carriers in it
     * @param waitNanos time that they waited for a CPU
     * @return CPU time of the requests that were told of in it, no more than their wall time: carriers run what is none of theirs, too
     */
    public long passed(double seconds, long runNanos, long waitNanos) {
        double kept = Math.exp(-seconds / MEMORY_SECONDS);
        long handshakesNow = handshakeWallNanos.sumThenReset();
        long requestsNow = requestWallNanos.sumThenReset();
        run = run * kept + runNanos;
        waited = waited * kept + waitNanos;
        handshakes = handshakes * kept + handshakesNow;
        requests = requests * kept + requestsNow;
        if (run <= 0) {
            return requestsNow; // the kernel does not say: what is known is an upper bound
        }
        double running = run / (run + waited);
        perHandshake = handshakes > 0 ? Math.min(running, run / handshakes) : running;
        perRequest = requests > 0 ? Math.min(running, Math.max(0, run - perHandshake * handshakes) / requests) : running;
        left = left * kept + runNanos - perHandshake * handshakesNow;
        double taken = Math.max(0, Math.min(left, requestsNow));
        left -= taken;
        return (long) taken;
    }
}
