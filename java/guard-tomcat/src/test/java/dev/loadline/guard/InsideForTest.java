package dev.loadline.guard;

import dev.loadline.guard.cpu.ServerThreads;
import dev.loadline.guard.policy.Delay;

/** What only the guard's own package may do to one. */
public final class InsideForTest {
    private InsideForTest() {}

    /** Sheds requests to at least this level, by what it would measure if established connections were too much. */
    public static void level(Guard guard, double level) {
        while (guard.figures().getShedLevel() < level) {
            guard.passed(System.nanoTime(), new Measured(new Delay.Tick(0.25, 1, 250_000_000, 250, 0, 250e9, 0, 1), "test", 200_000_000, 200_000_000));
        }
    }

    /** As if threads waited for half as long again as they may, so that what is owed decides who gets in. */
    public static void makeBusy(Guard guard) {
        guard.policy().giveDelay(1.5);
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
