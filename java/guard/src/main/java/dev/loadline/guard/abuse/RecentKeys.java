package dev.loadline.guard.abuse;

/**
 * Keys that were seen not long ago, in a table of fixed size. Thread-safe.
 *
 * <p>In sets of {@value #WAYS} places; a new key takes the place of the one of its set that was seen longest ago. A place is
 * one number: {@value #HASH_BITS} bits of the key's hash, and the minute.
 */
final class RecentKeys {
    /** People who think for a minute and a half are still here. */
    private static final long WINDOW_NANOS = 60_000_000_000L;
    private static final int WAYS = 8;
    private static final int HASH_BITS = 48;
    /** Minutes are told apart for 45 days. */
    private static final int WINDOWS = 1 << Long.SIZE - HASH_BITS;
    /** Of the heap, one part in so many at most. */
    private static final int HEAP_PART = 256;
    private static final int LEAST_PLACES = 1 << 15;
    private static final int MOST_PLACES = 1 << 24;

    private final long[] places;

    /**
     * @param wanted places
     * @param heapBytes the most that the heap may have
     */
    RecentKeys(long wanted, long heapBytes) {
        long most = Math.min(wanted, heapBytes / HEAP_PART / Long.BYTES);
        places = new long[Integer.highestOneBit((int) Math.max(LEAST_PLACES, Math.min(MOST_PLACES, most)))];
    }

    /** Keys that it has room for. */
    int room() {
        return places.length;
    }

    /** A key is seen. @return whether it had been in this window or the one before */
    synchronized boolean add(long key, long nowNanos) {
        long hash = hash(key);
        int window = window(nowNanos);
        int first = set(hash);
        int oldest = first;
        boolean recent = false;
        for (int at = first; at < first + WAYS; at++) {
            if (places[at] >>> Long.SIZE - HASH_BITS == hash) {
                recent = age(at, window) <= 1;
                oldest = at;
                break;
            }
            oldest = age(at, window) > age(oldest, window) ? at : oldest;
        }
        places[oldest] = hash << Long.SIZE - HASH_BITS | window;
        return recent;
    }

    /** Whether it was seen in this window or the one before. @param again whether it is now, if it was */
    synchronized boolean contains(long key, long nowNanos, boolean again) {
        int at = find(key);
        int window = window(nowNanos);
        boolean recent = at >= 0 && age(at, window) <= 1;
        if (recent && again) {
            places[at] = hash(key) << Long.SIZE - HASH_BITS | window;
        }
        return recent;
    }

    /** @return whether it was there */
    synchronized boolean remove(long key) {
        int at = find(key);
        if (at >= 0) {
            places[at] = 0;
        }
        return at >= 0;
    }

    private int find(long key) {
        long hash = hash(key);
        int first = set(hash);
        for (int at = first; at < first + WAYS; at++) {
            if (places[at] >>> Long.SIZE - HASH_BITS == hash) {
                return at;
            }
        }
        return -1;
    }

    /** Never zero, so that an empty place is nobody's. */
    private static long hash(long key) {
        return key >>> Long.SIZE - HASH_BITS | 1;
    }

    private int set(long hash) {
        return (int) (hash >>> 1) * WAYS & places.length - 1;
    }

    private static int window(long nowNanos) {
        return (int) Math.floorMod(Math.floorDiv(nowNanos, WINDOW_NANOS), (long) WINDOWS);
    }

    /** Windows since it was seen; an empty place is older than all. */
    private int age(int at, int window) {
        return places[at] == 0 ? WINDOWS : Math.floorMod(window - (int) (places[at] & WINDOWS - 1), WINDOWS);
    }
}
