package dev.loadline.guard;

/** What only the guard's own package may do to one. */
public final class BusyForTest {
    private BusyForTest() {}

    /** As if threads waited for half as long again as they may, so that what is owed decides who gets in. */
    public static void makeBusy(Guard guard) {
        guard.policy().giveDelay(1.5);
    }
}
