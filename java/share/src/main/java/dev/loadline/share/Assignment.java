package dev.loadline.share;

import java.util.BitSet;

/**
 * What this process has at a moment.
 *
 * @param cpus CPUs, of some perhaps a part
 * @param set their numbers; empty if nobody manages this process
 * @param managed whether the daemon says so; else these are the JVM's own CPUs
 */
public record Assignment(double cpus, BitSet set, boolean managed) {
    /** A copy of the set: the record's own must not change. */
    public Assignment {
        set = (BitSet) set.clone();
    }

    @Override
    public BitSet set() {
        return (BitSet) set.clone();
    }

    /** CPUs as a number of threads that make sense: rounded, at least one. */
    public int threads() {
        return threads(cpus);
    }

    static int threads(double cpus) {
        return Math.max(1, (int) Math.round(cpus));
    }
}
