package dev.loadline.threading;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** The one operation that clients call: {@code long work(in long number, in long cpu_us, in long delay_us)} in IDL. */
@FunctionalInterface
public interface Work {
    /** Its name on the wire. */
    String OPERATION = "work";
    /** The type of what has it. */
    String TYPE = "IDL:loadline/Work:1.0";

    /**
     * Does some work and answers.
     *
     * @param number of the request: decides how far its work is from the mean, and what is answered
     * @param cpuUs mean CPU time, in microseconds
     * @param delayUs mean delay after it, in microseconds
     */
    int work(int number, int cpuUs, int delayUs);

    /** What is answered to a request of that number. */
    static int answer(int number) {
        return (int) (mix(number) >>> 32);
    }

    /** Bits that look independent of their neighbours' (Steele, Lea, Flood, OOPSLA 2014: SplitMix's finalizer). */
    static long mix(long number) {
        long z = (number + 1) * 0x9E37_79B9_7F4A_7C15L;
        z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
        return z ^ z >>> 31;
    }

    /** The same, one request at a time, whichever thread comes first. */
    default Work serialized() {
        // No monitor: virtual threads of JDKs before 24 would hold their carrier while they wait for it.
        Lock mutex = new ReentrantLock();
        return (number, cpuUs, delayUs) -> {
            mutex.lock();
            try {
                return work(number, cpuUs, delayUs);
            } finally {
                mutex.unlock();
            }
        };
    }
}
