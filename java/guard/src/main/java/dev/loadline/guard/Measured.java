package dev.loadline.guard;

import dev.loadline.guard.policy.Delay;

/**
 * What was measured over one tick.
 *
 * @param cpusFrom who said how many CPUs are at hand
 * @param reportedCpuNanos CPU time of handshakes and requests that this guard was told of
 * @param reportedToAnyCpuNanos that any guard of the process was told of
 */
record Measured(Delay.Tick tick, String cpusFrom, long reportedCpuNanos, long reportedToAnyCpuNanos) {
    /**
     * The same while the guard is off: its threads run and wait for connections that it is not told of, so that their waiting is nobody's.
     * Divided among the few events that it knows of it would look like overload.
     */
    Measured whileOff() {
        return new Measured(new Delay.Tick(tick.seconds(), tick.cpus(), tick.cpuNanos(), tick.events(), tick.underWayNanos(), 0, 0, Double.NaN),
            cpusFrom, reportedCpuNanos, reportedToAnyCpuNanos);
    }

    double seconds() {
        return tick.seconds();
    }

    double cpus() {
        return tick.cpus();
    }

    /** Share of the CPUs at hand that the process used. */
    double utilization() {
        return Math.min(1, tick.cpuNanos() / (seconds() * 1e9 * cpus()));
    }

    /** Events that waited for a CPU, a worker or their turn, on average and per CPU. */
    double waiting() {
        return (tick.waitedNanos() + tick.turnNanos()) / (seconds() * 1e9 * cpus());
    }
}
