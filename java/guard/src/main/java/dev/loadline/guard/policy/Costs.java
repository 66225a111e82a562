package dev.loadline.guard.policy;

/**
 * What a connection costs, learnt from what connections cost. Not thread-safe.
 *
 * <p>The cost of a life is the mean cost of a handshake plus the CPU time of requests per connection
 * opened, both over a window that forgets exponentially. Counting connections when they open and not
 * when they close gives long-lived ones their weight without waiting for their end; in a steady state
 * the two are the same. One outlier counts for at most {@value #OUTLIER} times the mean, so that a
 * debugger or a suspended machine does not close the site.
 */
public final class Costs {
    /** Time after which an observation weighs a third of what it did. */
    private static final double MEMORY_SECONDS = 20;
    private static final double OUTLIER = 20;
    /** Observations that the value known before weighs as much as. */
    private static final double PRIOR_WEIGHT = 5;

    private static final class Mean {
        double known;
        double sum;
        double count;

        Mean(double prior) {
            known = prior;
        }

        double value() {
            return (sum + PRIOR_WEIGHT * known) / (count + PRIOR_WEIGHT);
        }

        void forget(double kept) {
            if (count >= PRIOR_WEIGHT) {
                known = value();
            }
            sum *= kept;
            count *= kept;
        }
    }

    private static final class Class {
        final Mean handshake;
        final Mean requests = new Mean(0);
        long learnt;

        Class(double priorNanos) {
            handshake = new Mean(priorNanos);
        }
    }

    private final Class[] classes;
    private final double fixedFullNanos;
    private final double fixedResumedNanos;
    private double overhead = 1;

    /**
     * @param fixedFullNanos cost of a full connection when it is not to be learnt, else 0
     * @param fixedResumedNanos the same of a resumed one
     */
    public Costs(long fixedFullNanos, long fixedResumedNanos) {
        this.fixedFullNanos = fixedFullNanos;
        this.fixedResumedNanos = fixedResumedNanos;
        // Before anything is learnt: handshakes as measured on one core of 2.5 GHz, Tomcat 11, RSA-2048.
        classes = new Class[] {new Class(8e6), new Class(2.5e6), new Class(0.2e6)};
    }

    /** A handshake ended. */
    public void handshake(Outcome outcome, long cpuNanos) {
        Class c = classes[outcome.ordinal()];
        c.handshake.sum += Math.min(cpuNanos, OUTLIER * c.handshake.value());
        c.handshake.count++;
        c.requests.count++;
        c.learnt++;
    }

    /** CPU time went into connections of a class beside their handshakes: requests, and reading, and closing. */
    public void requests(Outcome outcome, long cpuNanos) {
        classes[outcome.ordinal()].requests.sum += cpuNanos;
    }

    /**
     * Time passed.
     *
     * @param attributedCpuNanos CPU time of this time that was reported here
     * @param processCpuNanos CPU time of the whole process: collector, compiler and other threads work
     *     for the connections too
     * @param cpus CPUs at hand: an idle server's overhead says nothing about a busy one's
     */
    public void passed(double seconds, long attributedCpuNanos, long processCpuNanos, double cpus) {
        double kept = Math.exp(-seconds / MEMORY_SECONDS);
        for (Class c : classes) {
            c.handshake.forget(kept);
            c.requests.forget(kept);
        }
        if (attributedCpuNanos > 0.2e9 * cpus * seconds) {
            double now = Math.min(3, Math.max(1, (double) processCpuNanos / attributedCpuNanos));
            overhead += (now - overhead) * (1 - Math.exp(-seconds / 5));
        }
    }

    /** CPU time of a full connection's life, everything included. */
    public double fullCpuNanos() {
        return fixedFullNanos > 0 ? fixedFullNanos : lifeCpuNanos(Outcome.FULL);
    }

    /** CPU time of a resumed connection's life; never more than a full one's. */
    public double resumedCpuNanos() {
        return fixedResumedNanos > 0 ? fixedResumedNanos : Math.min(lifeCpuNanos(Outcome.RESUMED), fullCpuNanos());
    }

    /** CPU time of a handshake that fails. */
    public double failedCpuNanos() {
        return lifeCpuNanos(Outcome.FAILED);
    }

    /** CPU time of a full handshake alone. */
    public double handshakeCpuNanos() {
        return classes[Outcome.FULL.ordinal()].handshake.value() * overhead;
    }

    /** CPU time of the process per CPU time that was reported. */
    public double overhead() {
        return overhead;
    }

    /** Handshakes that were learnt from. */
    public long learnt() {
        return classes[Outcome.FULL.ordinal()].learnt + classes[Outcome.RESUMED.ordinal()].learnt;
    }

    private double lifeCpuNanos(Outcome outcome) {
        Class c = classes[outcome.ordinal()];
        return Math.max(1_000, (c.handshake.value() + c.requests.value()) * overhead);
    }
}
