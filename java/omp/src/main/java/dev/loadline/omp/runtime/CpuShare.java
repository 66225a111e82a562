package dev.loadline.omp.runtime;

/**
 * Decides from what a team's threads got whether other programs need the same CPUs, and how many threads are
 * then enough. Pure: who calls says what was seen in each <em>window</em> of time.
 *
 * <p>When threads that are ready to run wait for a CPU a good part of the time, a team of that size only
 * makes its own members wait for each other: it shrinks to what it got. It grows again when CPUs idle.
 * When the others take what it left and it still waits, leaving was for nothing: it goes back, and does
 * not try again for a while that doubles each time.
 */
final class CpuShare {
    /** No limit from here. */
    static final int ALL = Integer.MAX_VALUE;

    /** Part of its threads' wish for CPU time that a team does without before it shrinks; and when it has shrunk. */
    private static final double TOO_LITTLE = 0.25;
    /** Windows in a row that must look the same, so that one compilation or collection does not count. */
    private static final int WINDOWS_TO_SHRINK = 2;
    private static final int WINDOWS_TO_GIVE_UP = 6;
    /** Idle CPUs that one more thread could have for itself. */
    private static final double IDLE = 0.6;
    private static final long LEAST_PAUSE_NS = 2_000_000_000L;
    private static final long LONGEST_PAUSE_NS = 60_000_000_000L;

    private int limit = ALL;
    private int inRow;
    private long pauseNs = LEAST_PAUSE_NS;
    private long notBeforeNs = Long.MIN_VALUE;

    /** How large a window must be that it does not cost more than a thousandth or so. */
    static long windowNs(int threads) {
        return Math.max(25_000_000L, threads * 10_000_000L);
    }

    /** The most threads that make sense. */
    int limit() {
        return limit;
    }

    /** Whether {@link #decide} needs to know how many CPUs idled. */
    boolean asksForIdle() {
        return limit != ALL;
    }

    /**
     * Draws the conclusion from one window.
     *
     * @param nowNs the time, on any clock
     * @param size threads of the team in that window
     * @param ranNs CPU time of its threads
     * @param waitedNs time in which they could have run and had no CPU
     * @param idleCpus CPUs that idled on average, of those that this program may use; not used unless asked for
     */
    void decide(long nowNs, int size, long ranNs, long waitedNs, double idleCpus) {
        double wanted = (double) ranNs + waitedNs;
        boolean waits = wanted > 0 && waitedNs > TOO_LITTLE * wanted;
        if (limit == ALL) {
            int enough = wanted > 0 ? (int) (size * (ranNs / wanted) + 0.25) : size;
            boolean helps = waits && enough >= 1 && enough < size && nowNs >= notBeforeNs;
            inRow = helps ? inRow + 1 : 0;
            if (inRow >= WINDOWS_TO_SHRINK) {
                limit = enough;
                inRow = 0;
            }
            return;
        }
        inRow = waits ? inRow + 1 : 0;
        if (idleCpus >= IDLE) {
            limit = ALL;
            inRow = 0;
            pauseNs = LEAST_PAUSE_NS;
        } else if (inRow >= WINDOWS_TO_GIVE_UP) {
            limit = ALL;
            inRow = 0;
            notBeforeNs = nowNs + pauseNs;
            pauseNs = Math.min(LONGEST_PAUSE_NS, 2 * pauseNs);
        }
    }
}
