package dev.loadline.guard;

/** Brings a guard to shed requests, by what it would measure if established connections were too much. */
public final class ShedForTest {
    private ShedForTest() {}

    /** Until at least this level. */
    public static void level(Guard guard, double level) {
        while (guard.figures().getShedLevel() < level) {
            guard.passed(System.nanoTime(), new Measured(0.25, 1, "test", 250_000_000, 200_000_000, 1_000, 0, 1));
        }
    }
}
