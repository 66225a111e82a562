package dev.loadline.omp.runtime;

/**
 * Unwinds a member out of a region in which another member threw. It never reaches the caller of the
 * region, and carries nothing, so one instance serves all.
 */
final class Cancelled extends Error {
    static final Cancelled INSTANCE = new Cancelled();

    private Cancelled() {
        super("another thread of the team threw", null, false, false);
    }
}
