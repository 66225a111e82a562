package dev.loadline.omp.runtime;

/** What the program may change while it runs; process-wide, except the team size, which is a member's. */
public final class Controls {
    private static volatile boolean dynamic = Settings.OF_PROCESS.dynamic();
    private static volatile int maxActiveLevels = Settings.OF_PROCESS.maxActiveLevels();
    private static volatile Schedule schedule = Settings.OF_PROCESS.schedule();

    private Controls() {}

    /** @return whether teams are cut to the CPUs at hand */
    public static boolean dynamic() {
        return dynamic;
    }

    /** @param on whether teams are cut to the CPUs at hand */
    public static void dynamic(boolean on) {
        dynamic = on;
    }

    /** @return how many nested regions have more than one thread */
    public static int maxActiveLevels() {
        return maxActiveLevels;
    }

    /** @param levels how many nested regions have more than one thread */
    public static void maxActiveLevels(int levels) {
        if (levels < 0) {
            throw new IllegalArgumentException("max active levels is " + levels + "; it must be at least 0");
        }
        maxActiveLevels = levels;
    }

    /** @return what {@code schedule(runtime)} means */
    public static Schedule schedule() {
        return schedule;
    }

    /** @param value what {@code schedule(runtime)} means from now on */
    public static void schedule(Schedule value) {
        schedule = value;
    }

    /**
     * How large a team becomes. Pure.
     *
     * @param wanted what the program or its user asked for; 0 if nobody did
     * @param cpus CPUs at hand, shared by {@code around} threads of outer teams
     * @param around threads of outer teams
     * @param dynamic whether to stay within the CPUs
     * @param limit the most
     */
    static int size(int wanted, int cpus, int around, boolean dynamic, int limit) {
        int share = Math.max(1, cpus / around);
        int size = wanted == 0 ? share : dynamic ? Math.min(wanted, share) : wanted;
        return Math.min(size, limit);
    }
}
