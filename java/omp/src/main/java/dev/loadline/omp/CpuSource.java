package dev.loadline.omp;

/**
 * Says how many CPUs this program may use at the moment. A CPU manager's client provides one, found
 * by {@link java.util.ServiceLoader}; without one, teams ask
 * {@link Runtime#availableProcessors()}, which knows the affinity and the quota.
 */
public interface CpuSource {
    /**
     * The CPUs at hand, at least 1. Asked at most once per millisecond and team, before a region or
     * while one hands out chunks; it must not block.
     *
     * @return how many
     */
    int cpus();

    /**
     * Whether these CPUs are this program's share, so that it need not find out what others leave.
     *
     * @return false while the source only repeats what the JVM says
     */
    default boolean isGiven() {
        return true;
    }
}
