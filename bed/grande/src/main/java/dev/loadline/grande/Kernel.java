package dev.loadline.grande;

/** One problem: made by its constructor, solved by {@link #run()}, once. */
public interface Kernel {
    /** Solves the problem; this is what is timed. */
    void run();

    /** Solves it with what the JDK has in place of directives. */
    void run(Crew crew);

    /** Throws {@link IllegalStateException} if the result is wrong. */
    void check();

    /** A number that two right runs of the same size agree in, but for rounding. */
    double result();

    /**
     * Compares a result with a known one.
     *
     * @param what which result
     * @param value ours
     * @param expected the known one
     * @param tolerance how far they may be apart
     */
    static void near(String what, double value, double expected, double tolerance) {
        if (!(Math.abs(value - expected) <= tolerance)) {
            throw new IllegalStateException(what + " is " + value + "; it should be " + expected + " within " + tolerance);
        }
    }
}
