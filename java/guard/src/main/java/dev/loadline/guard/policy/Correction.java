package dev.loadline.guard.policy;

/**
 * The closed loop: what is measured corrects the budget, so that neither a wrong cost nor other users of
 * the CPUs can overload or starve the server. Not thread-safe.
 *
 * <p>Two loops of different speed. {@link #waitingNow} acts on each decision: how many events are under
 * way is known at any moment, and what share of them competes for a CPU changes slowly enough to be
 * measured. A loop that waited for the next measurement would swing: connections of a few milliseconds
 * come and go many times in between. {@link #factor} learns slowly what the costs got wrong; slowly,
 * because an admitted session goes on costing for as long as it lasts.
 */
public final class Correction {
    static final double LEAST = 0.2;
    static final double MOST = 5;
    /** Utilization from which the CPUs count as busy: a collection or a timer leaves small gaps. */
    private static final double BUSY = 0.97;
    /**
     * Change per second, at most: sessions go on costing for some ten seconds, and what comes of a change is seen
     * only then. Three times as fast, and the factor swings between 0.7 and 1.4.
     */
    private static final double FASTEST = 0.05;
    /** Change per second and idle CPU, so that a twentieth of the CPUs is worth more than the noise. */
    private static final double IDLE_GAIN = 3;
    private static final double FAST_SECONDS = 0.4;
    /** Utilization is smoothed over so long. */
    private static final double SLOW_SECONDS = 2;
    /** While nobody is refused nothing is learnt, and what was is forgotten: costs are learnt meanwhile. */
    private static final double FORGET_SECONDS = 20;

    private final double targetWaiting;
    private double factor = 1;
    private final Lasting lastingWaiting = new Lasting();
    private final Lasting lastingContention = new Lasting();
    private double slowUtilization;
    private double waiting;
    private double contention;
    private double competing = 1;

    /** @param targetWaiting events that may wait for a CPU, per CPU */
    public Correction(double targetWaiting) {
        this.targetWaiting = targetWaiting;
    }

    /**
     * A tick ended.
     *
     * @param seconds its length
     * @param utilization CPU time of the process per CPU time at hand, at most 1
     * @param measuredWaiting events that waited for a CPU, a thread or their turn on average, per CPU
     * @param measuredForTurn those of them that waited for their turn
     * @param measuredCompeting share of the events under way that ran or waited to run; NaN when not measured
     * @param refusing whether someone was refused of late: otherwise little load is no error of the budget
     * @param byBudget of those refused in this tick, the share that the budget kept out while nobody had to wait
     */
    public void passed(double seconds, double utilization, double measuredWaiting, double measuredForTurn,
                       double measuredCompeting, boolean refusing, double byBudget) {
        double measuredContention = Math.max(0, measuredWaiting - measuredForTurn);
        lastingWaiting.add(measuredWaiting);
        lastingContention.add(measuredContention);
        double fast = 1 - Math.exp(-seconds / FAST_SECONDS);
        waiting += (measuredWaiting - waiting) * fast;
        contention += (measuredContention - contention) * fast;
        if (!Double.isNaN(measuredCompeting)) {
            double share = Math.min(1, Math.max(0.02, measuredCompeting));
            competing += (share - competing) * (1 - Math.exp(-seconds));
        }
        double weight = 1 - Math.exp(-seconds / SLOW_SECONDS);
        slowUtilization += (utilization - slowUtilization) * weight;
        double perSecond;
        if (!refusing) {
            perSecond = -Math.log(factor) / FORGET_SECONDS;
        } else {
            boolean alone = lastingWaiting.median() <= queueAt(slowUtilization);
            // Where it is waiting that keeps people out, a larger budget would let nobody in.
            double room = byBudget * Math.max(0, 1 - lastingWaiting.median() / targetWaiting);
            double idle = alone ? IDLE_GAIN * room * Math.max(0, BUSY - slowUtilization) : 0;
            double crowded = Math.max(0, lastingWaiting() / targetWaiting - 1);
            perSecond = Math.min(FASTEST, idle) - FASTEST * Math.min(1, crowded);
        }
        factor = Math.min(MOST, Math.max(LEAST, factor * Math.exp(perSecond * seconds)));
    }

    /**
     * How long a queue of random arrivals is at a utilization, by Pollaczek and Khinchine for demands whose
     * squared coefficient of variation is three: when more wait, somebody else uses the CPUs.
     */
    private static double queueAt(double utilization) {
        return 2 * utilization * utilization / Math.max(0.01, 1 - utilization);
    }

    /** By what the CPUs at hand are to be multiplied. */
    public double factor() {
        return factor;
    }

    /** Events that wait at this moment, per CPU: those under way that compete, less the one that has the CPU. */
    public double waitingNow(int underWay, double cpus) {
        return Math.max(0, underWay * competing / cpus - 1);
    }

    /** Events that waited, per CPU, as measured, smoothed over half a second. */
    public double waiting() {
        return waiting;
    }

    /** Events that have waited for seconds and still do: neither a pause nor what it leaves behind. */
    public double lastingWaiting() {
        return lastingWaiting.still();
    }

    /** The same of those that wait for a CPU or a thread: who waits for its turn keeps nobody else from either. */
    public double lastingContention() {
        return lastingContention.still();
    }

    /** Events that waited for a CPU or a thread, per CPU, smoothed over half a second. */
    public double contention() {
        return contention;
    }

    public double targetWaiting() {
        return targetWaiting;
    }
}
