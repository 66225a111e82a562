package dev.loadline.guard.abuse;

/**
 * Counts per key within the current window and the one before it, in a table of fixed size. A set of
 * {@value #WAYS} places holds the keys of one hash; a new key takes the place with the lowest count. So
 * who does much is counted right, however many others there are. Not thread-safe.
 */
final class WindowedCounts {
    private static final int WAYS = 8;

    private final long windowNanos;
    private final int sets;
    private final long[] keys;
    private final long[] windows;
    private final int[] current;
    private final int[] previous;

    /** @param sets a power of two; the table has eight times as many places */
    WindowedCounts(long windowNanos, int sets) {
        this.windowNanos = windowNanos;
        this.sets = sets;
        keys = new long[sets * WAYS];
        windows = new long[sets * WAYS];
        current = new int[sets * WAYS];
        previous = new int[sets * WAYS];
        java.util.Arrays.fill(windows, Long.MIN_VALUE);
    }

    /** Counts one more and returns the count, the share of the previous window that still reaches here included. */
    int add(long key, long nowNanos) {
        int at = place(key, nowNanos, true);
        current[at]++;
        return weighted(at, nowNanos);
    }

    /** The count of a key. */
    int get(long key, long nowNanos) {
        int at = place(key, nowNanos, false);
        return at < 0 ? 0 : weighted(at, nowNanos);
    }

    /** To the nearest: what was counted just now is not less because a window has ended since. */
    private int weighted(int at, long nowNanos) {
        double gone = (double) Math.floorMod(nowNanos, windowNanos) / windowNanos;
        return (int) Math.round(current[at] + previous[at] * (1 - gone));
    }

    private int place(long key, long nowNanos, boolean take) {
        long window = Math.floorDiv(nowNanos, windowNanos);
        long mixed = (key ^ key >>> 32) * 0x9e3779b97f4a7c15L;
        int first = (int) (mixed >>> 40 & sets - 1) * WAYS;
        int least = first;
        int leastCount = Integer.MAX_VALUE;
        for (int at = first; at < first + WAYS; at++) {
            roll(at, window);
            if (windows[at] != Long.MIN_VALUE && keys[at] == key) {
                return at;
            }
            int count = windows[at] == Long.MIN_VALUE ? -1 : current[at] + previous[at];
            if (count < leastCount) {
                leastCount = count;
                least = at;
            }
        }
        if (!take) {
            return -1;
        }
        keys[least] = key;
        windows[least] = window;
        current[least] = 0;
        previous[least] = 0;
        return least;
    }

    private void roll(int at, long window) {
        long passed = windows[at] == Long.MIN_VALUE ? 0 : window - windows[at];
        if (passed > 0) {
            previous[at] = passed == 1 ? current[at] : 0;
            current[at] = 0;
            windows[at] = passed == 1 || previous[at] > 0 ? window : Long.MIN_VALUE;
        }
    }
}
