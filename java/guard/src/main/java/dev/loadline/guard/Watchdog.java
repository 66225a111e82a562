package dev.loadline.guard;

/**
 * Whether the guard's loop still completes. What it decides by is measured there: when the loop has not completed for
 * a while, because its thread is gone, hangs, or fails each time, what was measured last says nothing any more, and
 * everybody is admitted. Thread-safe; asking is a volatile read.
 */
final class Watchdog {
    private final long limitNanos;
    /** Before the loop is started, and after it was ended on purpose, nobody waits for it. */
    private volatile boolean watching;
    private volatile long completedNanos;
    private boolean stalled;

    /** @param limitNanos time without a completed loop after which it counts as stalled */
    Watchdog(long limitNanos) {
        this.limitNanos = limitNanos;
    }

    void begin(long nowNanos) {
        completedNanos = nowNanos;
        watching = true;
    }

    void end() {
        watching = false;
    }

    boolean stalled(long nowNanos) {
        return watching && nowNanos - completedNanos > limitNanos;
    }

    /** Notes that somebody found the loop stalled. @return whether that is news */
    synchronized boolean notice() {
        boolean news = !stalled;
        stalled = true;
        return news;
    }

    /** The loop completed. @return whether it had been noticed that it did not */
    synchronized boolean completed(long nowNanos) {
        completedNanos = nowNanos;
        boolean recovered = stalled;
        stalled = false;
        return recovered;
    }

    /** Time since the loop completed. */
    double silentSeconds(long nowNanos) {
        return (nowNanos - completedNanos) / 1e9;
    }
}
