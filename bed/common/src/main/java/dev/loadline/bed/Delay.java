package dev.loadline.bed;

import java.util.concurrent.locks.LockSupport;

/** A wait of a length that is asked for: in place of a database that answers after so long. */
public final class Delay {
    private Delay() {
    }

    /** Waits so many nanoseconds, or a little longer; interrupts do not shorten it. Thread.sleep of JDKs before 21 rounds to milliseconds. */
    public static void nanos(long ns) {
        long end = System.nanoTime() + ns;
        boolean interrupted = false;
        for (long left = ns; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
