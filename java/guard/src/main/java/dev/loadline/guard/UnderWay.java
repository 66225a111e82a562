package dev.loadline.guard;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many events are under way, and for how long all of them together have been. Those that are not over count as
 * well: an event that takes a minute, or that would never end, must not look like one that competes for a CPU.
 *
 * <p>Thread-safe, with one atomic addition at an event's begin and end: the low bits are the count, the others the sum
 * of ends less that of begins, in microseconds modulo 2^44 (half a year).
 */
final class UnderWay {
    private static final int COUNT_BITS = 20;

    private final AtomicLong both = new AtomicLong();
    private long lastMicros;

    void begins(long nanoTime) {
        both.addAndGet(1 - (micros(nanoTime) << COUNT_BITS));
    }

    /** @param nanoTime not before its begin */
    void ends(long nanoTime) {
        both.addAndGet((micros(nanoTime) << COUNT_BITS) - 1);
    }

    int count() {
        return count(both.get());
    }

    /** Time under way of all events since the last call, or since the clock's origin; for one thread. */
    double nanosSinceLast(long nanoTime) {
        long now = both.get();
        long micros = (now - count(now) >> COUNT_BITS) + count(now) * micros(nanoTime);
        long passed = micros - lastMicros << COUNT_BITS >> COUNT_BITS;
        lastMicros = micros;
        return passed * 1e3;
    }

    /** Signed: an end may be counted before its begin, for an instant. */
    private static int count(long both) {
        return (int) (both << Long.SIZE - COUNT_BITS >> Long.SIZE - COUNT_BITS);
    }

    private static long micros(long nanoTime) {
        return Math.floorDiv(nanoTime, 1000L);
    }
}
