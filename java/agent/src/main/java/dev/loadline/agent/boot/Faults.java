package dev.loadline.agent.boot;

/** What went wrong inside probes: the application must not see it, the recording must. */
public final class Faults {
    private static volatile long count;
    private static volatile Throwable first;

    private Faults() {}

    /** Called by an advice instead of throwing. */
    public static void caught(Throwable fault) {
        count++; // a lost update does not matter: zero or many is what is asked
        if (first == null) {
            first = fault;
        }
    }

    /** What was caught since the last call, in words; null if nothing. */
    public static String take() {
        if (count == 0) {
            return null;
        }
        String text = count + " probes failed, the first with " + first;
        StackTraceElement[] stack = first == null ? new StackTraceElement[0] : first.getStackTrace();
        if (stack.length > 0) {
            text += " at " + stack[0];
        }
        count = 0;
        first = null;
        return text;
    }
}
