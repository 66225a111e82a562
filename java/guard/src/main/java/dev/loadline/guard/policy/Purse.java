package dev.loadline.guard.policy;

/**
 * CPU time that may be given away beside what is budgeted: a share of the CPUs, evenly, and at most a second's worth, or
 * one gift if that is more, at once. Over any time it gives no more than that share and one second's worth. Not
 * thread-safe.
 */
public final class Purse {
    private static final double SECOND = 1e9;

    private double nanos;
    private long atNanos;
    private boolean begun;

    /**
     * Takes so much, if it is there.
     *
     * @param cpus the share: how many CPUs' time comes in
     */
    public boolean takes(double costNanos, double cpus, long nowNanos) {
        double most = Math.max(cpus * SECOND, costNanos);
        nanos = begun ? Math.min(most, nanos + Math.max(0, nowNanos - atNanos) * cpus) : most;
        atNanos = nowNanos;
        begun = true;
        if (nanos < costNanos) {
            return false;
        }
        nanos -= costNanos;
        return true;
    }

    /** More was spent than what was taken. */
    public void spent(double moreNanos) {
        nanos -= moreNanos;
    }
}
