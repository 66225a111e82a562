package dev.loadline.omp;

import dev.loadline.omp.runtime.Controls;
import dev.loadline.omp.runtime.Member;
import dev.loadline.omp.runtime.Run;
import dev.loadline.omp.runtime.Schedule;

/** OpenMP's run-time library, under its names without the prefix {@code omp_}. */
public final class Omp {
    private Omp() {}

    /**
     * The current thread's number in its team.
     *
     * @return from 0, the master, to the team size less 1
     */
    public static int getThreadNum() {
        return Run.member().number();
    }

    /**
     * The size of the current team.
     *
     * @return 1 outside of every region
     */
    public static int getNumThreads() {
        return Run.member().size();
    }

    /**
     * How many threads a region without {@code num_threads} would have that began here.
     *
     * @return at least 1
     */
    public static int getMaxThreads() {
        return Run.member().maxThreads();
    }

    /**
     * Says how many threads the regions shall have that the current thread begins from now on. With
     * dynamic adjustment it is a ceiling.
     *
     * @param threads at least 1
     */
    public static void setNumThreads(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("the number of threads is " + threads + "; it must be at least 1");
        }
        Run.member().wanted(threads);
    }

    /**
     * The CPUs at hand: what the CPU manager gave, else what affinity and quota leave.
     *
     * @return at least 1
     */
    public static int getNumProcs() {
        return Run.cpus();
    }

    /**
     * Whether the current code runs in a region that has more than one thread.
     *
     * @return false in serial code
     */
    public static boolean inParallel() {
        return Run.member().activeLevels() > 0;
    }

    /**
     * Nested regions around the current code.
     *
     * @return 0 in serial code
     */
    public static int getLevel() {
        return Run.member().level();
    }

    /**
     * Nested regions around the current code that have more than one thread.
     *
     * @return 0 in serial code
     */
    public static int getActiveLevel() {
        return Run.member().activeLevels();
    }

    /**
     * Whether teams are cut to the CPUs at hand.
     *
     * @return true by default
     */
    public static boolean getDynamic() {
        return Controls.dynamic();
    }

    /**
     * Says whether teams are cut to the CPUs at hand.
     *
     * @param dynamic true to cut; false to have as many threads as asked for, whatever the CPUs
     */
    public static void setDynamic(boolean dynamic) {
        Controls.dynamic(dynamic);
    }

    /**
     * How many nested regions may have more than one thread.
     *
     * @return 1 by default: regions within regions run on the thread that meets them
     */
    public static int getMaxActiveLevels() {
        return Controls.maxActiveLevels();
    }

    /**
     * Says how many nested regions may have more than one thread.
     *
     * @param levels 0 makes every region serial
     */
    public static void setMaxActiveLevels(int levels) {
        Controls.maxActiveLevels(levels);
    }

    /**
     * Says what {@code schedule(runtime)} means.
     *
     * @param kind which rule
     * @param chunk iterations per piece; 0 where the rule decides
     */
    public static void setSchedule(Schedule.Kind kind, long chunk) {
        if (chunk < 0) {
            throw new IllegalArgumentException("the chunk is " + chunk + "; it must be at least 0");
        }
        Controls.schedule(new Schedule(kind, chunk));
    }

    /**
     * What {@code schedule(runtime)} means.
     *
     * @return rule and chunk
     */
    public static Schedule getSchedule() {
        return Controls.schedule();
    }

    /**
     * Wall-clock time.
     *
     * @return seconds since some point in the past
     */
    public static double getWtime() {
        return System.nanoTime() * 1e-9;
    }

    /**
     * Resolution of {@link #getWtime()}.
     *
     * @return seconds
     */
    public static double getWtick() {
        return 1e-9;
    }

    /** The most variables that one directive can reduce or copy. */
    public static final int MOST_REDUCED = Member.MOST_REDUCED;
}
