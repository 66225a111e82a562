package dev.loadline.guard.policy;

/**
 * How many CPUs a server can make use of: what a self-managed server asks its CPU manager for. Not thread-safe.
 *
 * <p>From the rates of new and resumed connections, each at its learnt cost ({@link Admission#offeredCpus}), those that
 * were refused included: a server that sheds load uses few CPUs and needs many, which nobody sees from outside
 * (Guitart's thesis, 5.3.1.1). Or from CPU use, where that is more: requests without connections, other work of the
 * process. Before any cost is learnt, from CPU use and the wait for a CPU.
 */
public final class CpuDemand {
    /**
     * CPUs asked for per CPU of demand: at a utilization of 0.8 a request takes five times its service time (M/G/1-PS). At
     * 1.1 it takes ten times, at 1.5 three times, and a third of the CPUs idles.
     */
    static final double HEADROOM = 1.25;
    /** Rises and falls to a third within these: half of it follows single sessions, double lags a step by seconds. */
    private static final double SMOOTH_SECONDS = 2;
    /** What sessions go on costing after the last of them has begun shows in the use. At 4, a neighbour was without what it needed for as long. */
    private static final double FALL_SECONDS = 1;
    /** Steps of what is asked for: each change is a message. */
    private static final double STEP = 0.05;

    private double usedCpus;
    private double neededCpus;

    /**
     * A tick ended.
     *
     * @param offeredCpus CPU time per second of all sessions that would begin
     * @param learnt handshakes that costs were learnt from
     * @param used CPUs that the process used
     * @param waited CPUs that its events waited for
     * @return CPUs to ask for, in steps of {@value #STEP}
     */
    public double passed(double seconds, double offeredCpus, long learnt, double used, double waited) {
        double now = learnt > 0 ? used : used + waited;
        usedCpus += (now - usedCpus) * (1 - Math.exp(-seconds / SMOOTH_SECONDS));
        double needed = Math.max(usedCpus, learnt > 0 ? offeredCpus : 0);
        // What is offered is smooth already: a rise counts at once.
        neededCpus = needed > neededCpus ? needed : neededCpus + (needed - neededCpus) * (1 - Math.exp(-seconds / FALL_SECONDS));
        return Math.ceil(neededCpus * HEADROOM / STEP) * STEP;
    }
}
