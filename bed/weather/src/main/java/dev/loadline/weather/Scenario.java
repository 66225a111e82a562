package dev.loadline.weather;

/** How long each database takes, in milliseconds. */
enum Scenario {
    /** They answer at once: the CPU is what runs out. */
    A(0, 0, 0),
    /** Each takes its time: threads are what runs out. */
    B(30, 310, 110);

    private static final long NS = 1_000_000;

    final long authenticateNs;
    final long locateNs;
    final long forecastNs;

    Scenario(long authenticateMs, long locateMs, long forecastMs) {
        authenticateNs = authenticateMs * NS;
        locateNs = locateMs * NS;
        forecastNs = forecastMs * NS;
    }
}
