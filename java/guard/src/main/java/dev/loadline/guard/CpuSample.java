package dev.loadline.guard;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Of which the CPU time is asked for, where there are many: all, or one in so many, which stands for them. To ask is a system call, of
 * 0.4 us warm and several times that between the work of others: twice for each event it was 1.6% of what a nearly full CPU did.
 */
final class CpuSample {
    private final double enough;
    private volatile int every = 1;

    /** @param enough a second to learn from; up to twice as many are */
    CpuSample(double enough) {
        this.enough = enough;
    }

    /** A tick ended, with so many. */
    void passed(double seconds, long many) {
        every = (int) Math.max(1, many / (seconds * enough));
    }

    /** For how many one that begins now stands; 0: it is not asked. */
    int next() {
        int now = every;
        return now == 1 || ThreadLocalRandom.current().nextInt(now) == 0 ? now : 0;
    }
}
