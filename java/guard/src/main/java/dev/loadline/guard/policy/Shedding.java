package dev.loadline.guard.policy;

/**
 * Which requests of established connections are answered 503, when they alone are too much for the
 * CPUs. A level from 0 to 3 says how many: its whole part, the priorities that are shed whole; its
 * fraction, the share of the next one. Not thread-safe.
 */
public final class Shedding {
    private static final double MOST = 3;

    private double level;
    private double debt;

    /**
     * A tick ended.
     *
     * @param nobodyAdmitted whether the guard is refusing and neither new nor resumed connections get in
     *     as they come: only then is the established load to blame
     * @param waitingOfTarget waiting for a CPU or a thread, as measured, per target
     */
    public void passed(double seconds, boolean nobodyAdmitted, double waitingOfTarget) {
        if (nobodyAdmitted && waitingOfTarget > 3) {
            level = Math.min(MOST, level + seconds * 0.3 * Math.min(2, waitingOfTarget / 3));
        } else if (waitingOfTarget < 2) {
            level = Math.max(0, level - seconds * 0.3);
        }
    }

    /** Whether this request is to be shed; of a share of 30%, three of every ten requests, evenly. */
    public boolean sheds(Priority priority) {
        double share = level - priority.ordinal();
        if (share <= 0) {
            return false;
        }
        if (share >= 1) {
            return true;
        }
        debt += share;
        if (debt >= 1) {
            debt--;
            return true;
        }
        return false;
    }

    public double level() {
        return level;
    }
}
