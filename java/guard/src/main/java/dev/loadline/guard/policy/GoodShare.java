package dev.loadline.guard.policy;

/** The share of claims that turned out good, of the last hundred or so. Not thread-safe. */
final class GoodShare {
    private static final double WEIGHT = 1 / 50.0;

    private double share = 1;

    /** One turned out. */
    void add(boolean good) {
        share += ((good ? 1 : 0) - share) * WEIGHT;
    }

    /** From 0 to 1; 1 before anything is known. */
    double share() {
        return share;
    }
}
