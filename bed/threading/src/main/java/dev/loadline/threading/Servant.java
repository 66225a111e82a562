package dev.loadline.threading;

import dev.loadline.Loadline;
import dev.loadline.Span;
import dev.loadline.bed.Delay;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Computes, then waits, each for an exponentially distributed time that follows from the request's number. Each request is a
 * span of a recording. Computing is a fixed amount of work, not of time: on a CPU that is half as fast it takes twice as long.
 */
public final class Servant implements Work {
    private static final long CALIBRATION_NS = 400_000_000;
    private static final int CALIBRATION_SPINS = 100_000;
    /** Keeps the compiler from dropping work whose result nobody reads. */
    private static volatile long never;

    private final int spinsPerMs;
    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger mostActive = new AtomicInteger();
    private final AtomicLong served = new AtomicLong();

    /** With so many turns of its loop to a millisecond, see {@link #calibrate}. */
    public Servant(int spinsPerMs) {
        this.spinsPerMs = spinsPerMs;
    }

    @Override
    public int work(int number, int cpuUs, int delayUs) {
        try (Span span = Loadline.span(OPERATION)) {
            mostActive.accumulateAndGet(active.incrementAndGet(), Math::max);
            compute(Math.round(exponential(number, 0) * cpuUs * spinsPerMs / 1e3), number);
            Delay.nanos(Math.round(exponential(number, 1) * delayUs * 1e3));
            return Work.answer(number);
        } finally {
            active.decrementAndGet();
            served.incrementAndGet();
        }
    }

    /** The most requests that were here at once so far. */
    public int mostActive() {
        return mostActive.get();
    }

    /** Requests so far. */
    public long served() {
        return served.get();
    }

    /** A draw of mean 1 for that number; {@code stream} tells several draws for one number apart. */
    static double exponential(int number, int stream) {
        double uniform = (Work.mix((long) number << 1 | stream) >>> 11) * 0x1p-53;
        return -Math.log1p(-uniform);
    }

    /** Turns of the loop to a millisecond, on this CPU now, when compiled. */
    public static int calibrate() {
        long end = System.nanoTime() + CALIBRATION_NS;
        double fastest = Double.MAX_VALUE;
        while (System.nanoTime() < end) {
            long begin = System.nanoTime();
            compute(CALIBRATION_SPINS, (int) begin);
            // Its fastest: whoever is interrupted by another is not slower for that.
            fastest = Math.min(fastest, System.nanoTime() - begin);
        }
        return (int) Math.round(CALIBRATION_SPINS * 1e6 / fastest);
    }

    private static void compute(long spins, int seed) {
        long x = seed | 1;
        for (long i = 0; i < spins; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        if (x == 0) {
            // A xorshift that does not begin with 0 never gets there (Marsaglia, 2003).
            never = x;
        }
    }
}
