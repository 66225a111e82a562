package dev.loadline.guard.policy;

/**
 * The closed loop: turns what is measured into two factors of the budget, so that neither a wrong cost
 * nor other users of the CPUs can overload or starve the server. Not thread-safe.
 *
 * <p>{@link #gate} acts at once on the waiting of now: it closes new admissions between the target
 * stretch and twice that. {@link #factor} learns slowly what the costs got wrong; slowly, because an
 * admitted session goes on costing for as long as it lasts.
 */
public final class Correction {
    static final double LEAST = 0.2;
    static final double MOST = 5;
    /** Utilization from which the CPUs count as busy: a collection or a timer leaves small gaps. */
    private static final double BUSY = 0.97;

    private final double targetStretch;
    private double factor = 1;
    private double stretch;

    /** @param targetStretch time that the server's threads may wait per time that they run */
    public Correction(double targetStretch) {
        this.targetStretch = targetStretch;
    }

    /**
     * A tick ended.
     *
     * @param seconds its length
     * @param utilization CPU time of the process per CPU time at hand; not above 1 counts
     * @param measuredStretch waiting per running of the server's threads
     * @param refusing whether someone was refused: otherwise little load is no error of the budget
     */
    public void passed(double seconds, double utilization, double measuredStretch, boolean refusing) {
        stretch += (measuredStretch - stretch) * (1 - Math.exp(-seconds / 0.4));
        double perSecond;
        if (!refusing) {
            return;
        } else if (stretch > targetStretch) {
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

    /** How far new connections are let in: 1 at the target stretch and below, 0 at twice that. */
    public double gate() {
        return Math.min(1, Math.max(0, 2 - stretch / targetStretch));
    }

    /** The same for those who resume, who come after all new ones: 0 from four times the target on. */
    public double resumedGate() {
        return Math.min(1, Math.max(0, (4 - stretch / targetStretch) / 2));
    }

    /** Waiting per running, smoothed over half a second. */
    public double stretch() {
        return stretch;
    }

    public double targetStretch() {
        return targetStretch;
    }
}
