package dev.loadline.omp.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Words that threads poll, each alone on its cache lines: a {@code long[]} of which every
 * {@link #STRIDE}th element begins a <em>line</em>, with an unused line before the first and after
 * the last. 128 bytes, because processors fetch lines in pairs.
 */
final class Words {
    static final int STRIDE = 16;
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    private Words() {}

    static long[] lines(int count) {
        return new long[(count + 2) * STRIDE];
    }

    /** Where a line begins, from 0. */
    static int line(int number) {
        return (number + 1) * STRIDE;
    }

    static long get(long[] words, int index) {
        return (long) LONGS.getAcquire(words, index);
    }

    /** Stores what its reader may rely on, without a fence: the caller may read something older next. */
    static void publish(long[] words, int index, long value) {
        LONGS.setRelease(words, index, value);
    }

    /** Stores with a full fence: what the caller reads next was not read before this store is visible. */
    static void set(long[] words, int index, long value) {
        LONGS.setVolatile(words, index, value);
    }

    static boolean compareAndSet(long[] words, int index, long expected, long value) {
        return LONGS.compareAndSet(words, index, expected, value);
    }

    static long getAndSet(long[] words, int index, long value) {
        return (long) LONGS.getAndSet(words, index, value);
    }

    static long getAndAdd(long[] words, int index, long delta) {
        return (long) LONGS.getAndAdd(words, index, delta);
    }

    /** Whether a ticket has come to another; right also when tickets wrap. */
    static boolean reached(long ticket, long awaited) {
        return ticket - awaited >= 0;
    }
}
