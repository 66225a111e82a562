package dev.loadline.guard;

import dev.loadline.guard.cpu.ServerThreads;

/** What only the guard's own package may do to one. */
public final class InsideForTest {
    private InsideForTest() {}

    /** Sheds requests to at least this level, by what it would measure if established connections were too much. */
    public static void level(Guard guard, double level) {
        while (guard.figures().getShedLevel() < level) {
            guard.passed(System.nanoTime(), new Measured(0.25, 1, "test", 250_000_000, 200_000_000, 1_000, 0, 1));
        }
    }

    /** The threads that it measures. Of its own thread, which is to be ended first. */
    public static ServerThreads threads(Guard guard) {
        return guard.threads();
    }

    /** Ends its thread, as nothing but a fault would. */
    public static void endThread(Guard guard) throws InterruptedException {
        guard.thread().close();
        guard.thread().join();
    }
}
