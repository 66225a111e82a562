package dev.loadline.omp.runtime;

import dev.loadline.omp.runtime.Settings.WaitPolicy;

/** How long to wait in which way: spin, then yield, then park. Pure. */
final class Waiting {
    /** Yields before a waiter parks. */
    static final int YIELDS = Settings.OF_PROCESS.waitPolicy() == WaitPolicy.PASSIVE ? 2 : 60;

    /** A worker without work ends its thread after this. */
    static final long RETIRE_NS = 10_000_000_000L;

    private Waiting() {}

    /** Looks before the first yield: some 50 µs, which is what a wake-up costs; none for a team larger than the CPUs. */
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
