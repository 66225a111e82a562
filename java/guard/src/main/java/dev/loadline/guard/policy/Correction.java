package dev.loadline.guard.policy;

/**
 * The closed loop: what is measured corrects the budget, so that neither a wrong cost nor other users of
 * the CPUs can overload or starve the server. Not thread-safe.
 *
 * <p>Two loops of different speed. {@link #stretchNow} acts on each decision: how many events are under
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

    private final double targetStretch;
    private double factor = 1;
    private double stretch;
    private double competing = 1;

    /** @param targetStretch time that the server's threads may wait per time that they run */
    public Correction(double targetStretch) {
        this.targetStretch = targetStretch;
    }

    /**
     * A tick ended.
     *
     * @param seconds its length
     * @param utilization CPU time of the process per CPU time at hand, at most 1
     * @param measuredStretch waiting per running of the server's threads
     * @param measuredCompeting share of the events under way that ran or waited to run; NaN when not measured
     * @param refusing whether someone was refused: otherwise little load is no error of the budget
     */
    public void passed(double seconds, double utilization, double measuredStretch, double measuredCompeting,
                       boolean refusing) {
        stretch += (measuredStretch - stretch) * (1 - Math.exp(-seconds / 0.4));
        if (!Double.isNaN(measuredCompeting)) {
            double share = Math.min(1, Math.max(0.02, measuredCompeting));
            competing += (share - competing) * (1 - Math.exp(-seconds));
        }
        if (!refusing) {
            return;
        }
        double perSecond;
        if (stretch > targetStretch) {
            perSecond = -0.04 * Math.min(1, stretch / targetStretch - 1);
        } else if (utilization < BUSY) {
            perSecond = Math.min(1, 3 * (BUSY - utilization));
        } else {
            perSecond = 0.02 * (1 - stretch / targetStretch);
        }
        factor = Math.min(MOST, Math.max(LEAST, factor * Math.exp(perSecond * seconds)));
    }

    /** By what the CPUs at hand are to be multiplied. */
    public double factor() {
        return factor;
    }

    /** Waiting per running at this moment, by the number of events under way (Little's law). */
    public double stretchNow(int underWay, double cpus) {
        return Math.max(0, underWay * competing / cpus - 1);
    }

    /** Waiting per running as measured, smoothed over half a second. */
    public double stretch() {
        return stretch;
    }

    public double targetStretch() {
        return targetStretch;
    }
}
