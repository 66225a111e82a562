package dev.loadline.omp.runtime;

import dev.loadline.omp.runtime.Settings.WaitPolicy;

/** How long to wait in which way: spin, then yield, then park. Pure. */
final class Waiting {
    /** Yields of a waiter in a team larger than the CPUs, before it parks: each lets a member of its own team run. */
    private static final int YIELDS = Settings.OF_PROCESS.waitPolicy() == WaitPolicy.PASSIVE ? 2 : 8;

    /** Looks of a waiter whose waits have been in vain: 2 µs or so. */
    static final int LEAST_SPINS = 100;

    /** Every so many waits (a mask) a waiter looks as long as it may, to see whether that helps again. */
    static final int PROBE = 15;

    /** A worker without work ends its thread after this. */
    static final long RETIRE_NS = 10_000_000_000L;

    private Waiting() {}

    /**
     * Yields before a waiter parks. A team that fits the CPUs does without: what keeps its members is another
     * program, and who yields waits for that one's time slice, while who parks and is woken goes before it.
     */
    static int yields(int spin) {
        return spin == 0 ? YIELDS : 0;
    }

    /** Looks at first: some 50 µs, which is what a wake-up costs; none for a team larger than the CPUs. */
    static int spins(boolean fits) {
        return spins(fits, Settings.OF_PROCESS.waitPolicy());
    }

    static int spins(boolean fits, WaitPolicy policy) {
        if (!fits) {
            return 0;
        }
        return switch (policy) {
            case ACTIVE -> 1_000_000;
            case ADAPTIVE -> 2_000;
            case PASSIVE -> 0;
        };
    }
}
