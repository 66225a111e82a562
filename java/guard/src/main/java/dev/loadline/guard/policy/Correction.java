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

    private final double targetWaiting;
    private double factor = 1;
    private double waiting;
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
     * @param measuredWaiting events that waited for a CPU or a thread on average, per CPU
     * @param measuredCompeting share of the events under way that ran or waited to run; NaN when not measured
     * @param refusing whether someone was refused: otherwise little load is no error of the budget
     */
    public void passed(double seconds, double utilization, double measuredWaiting, double measuredCompeting,
                       boolean refusing) {
        waiting += (measuredWaiting - waiting) * (1 - Math.exp(-seconds / 0.4));
        if (!Double.isNaN(measuredCompeting)) {
            double share = Math.min(1, Math.max(0.02, measuredCompeting));
            competing += (share - competing) * (1 - Math.exp(-seconds));
        }
        if (!refusing) {
            return;
        }
        double perSecond;
        if (waiting > targetWaiting) {
            perSecond = -0.04 * Math.min(1, waiting / targetWaiting - 1);
        } else if (utilization < BUSY && waiting < 1) {
            perSecond = Math.min(1, 3 * (BUSY - utilization));
        } else {
            // Busy, or waiting for CPUs that somebody else uses: there is nothing to be gained in a hurry.
            perSecond = 0.02 * (1 - waiting / targetWaiting);
        }
        factor = Math.min(MOST, Math.max(LEAST, factor * Math.exp(perSecond * seconds)));
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

    public double targetWaiting() {
        return targetWaiting;
    }
}
