package dev.loadline.guard.policy;

import java.util.Arrays;

/**
 * What lasts of a figure that is measured each tick: the median of the last {@value #TICKS}, three seconds, or the
 * last one where that is lower. A collection, or a host that takes the CPU away for a moment, is a tick or two of
 * them, however many threads it keeps waiting. With an average in its place the closed loop's factor falls with each
 * pause, and a server on an unsteady host idles for a tenth of the time while it refuses. Not thread-safe.
 */
final class Lasting {
    private static final int TICKS = 12;

    private final double[] last = new double[TICKS];
    private int next;
    private double median;
    private double newest;

    void add(double measured) {
        newest = measured;
        last[next] = measured;
        next = (next + 1) % TICKS;
        double[] sorted = last.clone();
        Arrays.sort(sorted);
        median = sorted[(TICKS - 1) / 2]; // the lower of the two in the middle
    }

    double median() {
        return median;
    }

    /** The median, unless it is over. */
    double still() {
        return Math.min(newest, median);
    }
}
