package dev.loadline.guard;

/**
 * What was measured over one tick.
 *
 * @param seconds its length
 * @param cpus CPUs at hand at its end
 * @param cpusFrom who said so
 * @param processCpuNanos CPU time of the process
 * @param attributedCpuNanos CPU time that connections reported
 * @param waiting events that waited for a CPU, a thread or their turn on average, per CPU
 * @param forTurn those of them that waited for their turn
 * @param competing share of the events under way that ran or waited to run; NaN when not measured
 */
record Measured(double seconds, double cpus, String cpusFrom, long processCpuNanos, long attributedCpuNanos,
                double waiting, double forTurn, double competing) {
    /** Share of the CPUs at hand that the process used. */
    double utilization() {
        return Math.min(1, processCpuNanos / (seconds * 1e9 * cpus));
    }
}
