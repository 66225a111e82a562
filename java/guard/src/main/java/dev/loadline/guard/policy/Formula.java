package dev.loadline.guard.policy;

/**
 * How many connections an interval can carry.
 *
 * <p>Source: Guitart, Carrera, Beltran, Torres, Ayguadé, "Designing an overload control strategy for
 * secure e-commerce applications", Computer Networks 51 (2007), section 5.2.
 */
public final class Formula {
    /** There is no bound: the connections cost nothing. */
    public static final long UNBOUNDED = Long.MAX_VALUE;

    /** Makes quotients that are whole numbers stay so: 0.3 / 0.1 is 2.9999999999999996 in binary. */
    private static final double ROUNDING = 1e-9;

    private Formula() {}

    /**
     * N(k) = floor((k * A - O * CTO) / CTN), never below zero.
     *
     * @param intervalSeconds k
     * @param cpus A, which may be a fraction
     * @param resumedArrivals O, resumed connections expected in the interval
     * @param resumedCostSeconds CTO, the CPU time of a resumed connection
     * @param newCostSeconds CTN, the CPU time of a new one
     * @return new connections to admit; {@link #UNBOUNDED} when there is something left and they cost nothing
     */
    public static long newConnections(double intervalSeconds, double cpus, double resumedArrivals,
                                      double resumedCostSeconds, double newCostSeconds) {
        return whole(intervalSeconds * cpus - resumedArrivals * resumedCostSeconds, newCostSeconds);
    }

    /** floor(k * A / CTO): how many resumed connections fit when nobody else is admitted. */
    public static long resumedConnections(double intervalSeconds, double cpus, double resumedCostSeconds) {
        return whole(intervalSeconds * cpus, resumedCostSeconds);
    }

    private static long whole(double leftSeconds, double costSeconds) {
        if (!(leftSeconds > 0)) {
            return 0;
        }
        double count = leftSeconds / costSeconds + ROUNDING;
        return count >= Long.MAX_VALUE ? UNBOUNDED : (long) count;
    }
}
