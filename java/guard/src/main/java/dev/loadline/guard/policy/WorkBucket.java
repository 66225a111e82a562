package dev.loadline.guard.policy;

/**
 * Work that was promised and is not paid off yet. It drains as CPU time passes, so connections are
 * admitted evenly over time as soon as it stands at its depth. Not thread-safe.
 */
final class WorkBucket {
    private double owedCpuNanos;
    private long atNanos;

    WorkBucket(long nowNanos) {
        atNanos = nowNanos;
    }

    /** Pays off what this many CPUs do until now. */
    void drain(long nowNanos, double cpus) {
        long passed = nowNanos - atNanos;
        if (passed > 0) {
            owedCpuNanos = Math.max(0, owedCpuNanos - passed * cpus);
            atNanos = nowNanos;
        }
    }

    /** Whether so much more may be promised. An empty bucket always takes one, however dear. */
    boolean fits(double costCpuNanos, double depthCpuNanos) {
        return owedCpuNanos <= Math.max(0, depthCpuNanos - costCpuNanos);
    }

    /** Promises work, or takes it back (negative); never more debt than {@code mostCpuNanos}. */
    void charge(double cpuNanos, double mostCpuNanos) {
        owedCpuNanos = Math.min(Math.max(0, owedCpuNanos + cpuNanos), Math.max(mostCpuNanos, owedCpuNanos));
    }

    double owedCpuNanos() {
        return owedCpuNanos;
    }
}
