package dev.loadline.guard.policy;

/**
 * What a session costs: its first handshake, and what follows it, learnt from what sessions cost. These are the weights of
 * the lanes, no budget. Not thread-safe.
 *
 * <p>What follows is all CPU time that was reported beside the handshakes that begin sessions, per session begun: requests,
 * and the connections that the session opens later. One outlier counts for at most {@value #OUTLIER} times the mean, so
 * that a debugger or a suspended machine does not close the site.
 */
public final class Costs {
    /** Time after which an observation weighs a third: three sessions' length. At half of it a crowd dilutes what follows. */
    private static final double MEMORY_SECONDS = 30;
    private static final double OUTLIER = 20;
    /** Observations that what was known before weighs as much as. */
    private static final double PRIOR_WEIGHT = 5;

    private static final class Mean {
        private double known;
        private double sum;
        private double count;

        Mean(double prior) {
            known = prior;
        }

        double value() {
            return Math.max(0, sum + PRIOR_WEIGHT * known) / (count + PRIOR_WEIGHT);
        }

        void forget(double kept) {
            if (count >= PRIOR_WEIGHT) {
                known = value();
            }
            sum *= kept;
            count *= kept;
        }
    }

    /** Before anything is learnt: handshakes as measured on one core of 2.5 GHz, Tomcat 11, RSA-2048. */
    private final Mean[] handshakes = {new Mean(8e6), new Mean(2.5e6), new Mean(0.2e6)};
    private final Mean follows = new Mean(4e6);
    private final double fixedFullNanos;
    private final double fixedResumedNanos;
    private double overhead = 1;
    private long learnt;

    /**
     * @param fixedFullNanos cost of a new session when it is not to be learnt, else 0
     * @param fixedResumedNanos the same of one that begins with a ticket
     */
    public Costs(long fixedFullNanos, long fixedResumedNanos) {
        this.fixedFullNanos = fixedFullNanos;
        this.fixedResumedNanos = fixedResumedNanos;
    }

    /**
     * A handshake ended.
     *
     * @param begins whether a session begins with it, or would have
     * @param standsFor how many of which the CPU time is not known; 0: it is one of those
     */
    public void handshake(Outcome outcome, boolean begins, int standsFor, long cpuNanos) {
        Mean mean = handshakes[outcome.ordinal()];
        if (standsFor > 0) {
            mean.sum += Math.min(cpuNanos, OUTLIER * mean.value());
            mean.count++;
            learnt += outcome == Outcome.FAILED ? 0 : 1;
        }
        if (begins) {
            follows.sum -= standsFor * cpuNanos;
            follows.count += outcome == Outcome.FAILED ? 0 : 1;
        }
    }

    /**
     * Time passed.
     *
     * @param reportedCpuNanos CPU time of all handshakes and requests in it
     * @param toAnyCpuNanos the same, with those that another guard of the process was told of: what the process took beside is theirs too
     * @param processCpuNanos CPU time of the whole process: collector, compiler and other threads work for sessions too
     * @param cpus CPUs at hand: an idle server's overhead says nothing about a busy one's
     */
    public void passed(double seconds, long reportedCpuNanos, long toAnyCpuNanos, long processCpuNanos, double cpus) {
        double kept = Math.exp(-seconds / MEMORY_SECONDS);
        follows.sum += reportedCpuNanos;
        follows.forget(kept);
        for (Mean mean : handshakes) {
            mean.forget(kept);
        }
        if (toAnyCpuNanos > 0.2e9 * cpus * seconds) {
            double now = Math.min(3, Math.max(1, (double) processCpuNanos / toAnyCpuNanos));
            overhead += (now - overhead) * (1 - Math.exp(-seconds / 5));
        }
    }

    /** CPU time of a session that begins like this, everything included; of a failed handshake, its own. */
    public double sessionCpuNanos(Outcome outcome) {
        return switch (outcome) {
            case FULL -> fixedFullNanos > 0 ? fixedFullNanos : lifeCpuNanos(Outcome.FULL);
            case RESUMED -> fixedResumedNanos > 0 ? fixedResumedNanos
                : Math.min(lifeCpuNanos(Outcome.RESUMED), sessionCpuNanos(Outcome.FULL));
            case FAILED -> handshakeCpuNanos(Outcome.FAILED);
        };
    }

    private double lifeCpuNanos(Outcome outcome) {
        return Math.max(1_000, handshakeCpuNanos(outcome) + follows.value() * overhead);
    }

    /** CPU time of a handshake alone. */
    public double handshakeCpuNanos(Outcome outcome) {
        return handshakes[outcome.ordinal()].value() * overhead;
    }

    /** CPU time of the process per CPU time that was reported. */
    public double overhead() {
        return overhead;
    }

    /** Handshakes that were learnt from. */
    public long learnt() {
        return learnt;
    }
}
