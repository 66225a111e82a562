package dev.loadline.guard.abuse;

import java.net.InetAddress;

/**
 * Addresses that were served not long ago. A hello does not say whether the session that it resumes is
 * under way or was left yesterday; that its address was served in the last minute or two does, unless
 * everybody comes through one proxy: then all are known, and none is preferred. Thread-safe.
 *
 * <p>A table of fixed size, in sets of {@value #WAYS} places; a new address takes the place of the one of its set that
 * was served longest ago. A place is one number: {@value #HASH_BITS} bits of the address's hash, and the minute.
 */
public final class KnownClients {
    /** People who think for a minute and a half are still here. */
    private static final long WINDOW_NANOS = 60_000_000_000L;
    private static final int WAYS = 8;
    private static final int HASH_BITS = 48;
    /** Minutes are told apart for 45 days. */
    private static final int WINDOWS = 1 << Long.SIZE - HASH_BITS;
    /**
     * Places per CPU: some thousand new clients a second, which is more than it can shake hands with, for two minutes,
     * twice over, so that hardly a set overflows. 2 MiB.
     */
    private static final int PLACES_PER_CPU = 1 << 18;
    /** Of the heap, one part in so many at most. */
    private static final int HEAP_PART = 256;
    private static final int LEAST_PLACES = 1 << 15;
    private static final int MOST_PLACES = 1 << 24;

    private final long[] places;

    /** As large as this virtual machine can use, and has room for. */
    public KnownClients() {
        this(Runtime.getRuntime().availableProcessors(), Runtime.getRuntime().maxMemory());
    }

    /** @param heapBytes the most that the heap may have */
    KnownClients(int cpus, long heapBytes) {
        long wanted = Math.min((long) PLACES_PER_CPU * cpus, heapBytes / HEAP_PART / Long.BYTES);
        places = new long[Integer.highestOneBit((int) Math.max(LEAST_PLACES, Math.min(MOST_PLACES, wanted)))];
    }

    /** Addresses that it has room for. */
    public int room() {
        return places.length;
    }

    /** An address was served. */
    public synchronized void add(InetAddress address, long nowNanos) {
        long hash = hash(address);
        int window = window(nowNanos);
        int first = set(hash);
        int oldest = first;
        for (int at = first; at < first + WAYS; at++) {
            if (places[at] >>> Long.SIZE - HASH_BITS == hash) {
                oldest = at;
                break;
            }
            oldest = age(at, window) > age(oldest, window) ? at : oldest;
        }
        places[oldest] = hash << Long.SIZE - HASH_BITS | window;
    }

    /** Whether it was served in this window or the one before. */
    public synchronized boolean contains(InetAddress address, long nowNanos) {
        long hash = hash(address);
        int first = set(hash);
        for (int at = first; at < first + WAYS; at++) {
            if (places[at] >>> Long.SIZE - HASH_BITS == hash) {
                return age(at, window(nowNanos)) <= 1;
            }
        }
        return false;
    }

    /** Never zero, so that an empty place is nobody's. */
    private static long hash(InetAddress address) {
        return AddressKey.of(address) >>> Long.SIZE - HASH_BITS | 1;
    }

    private int set(long hash) {
        return (int) (hash >>> 1) * WAYS & places.length - 1;
    }

    private static int window(long nowNanos) {
        return (int) Math.floorMod(Math.floorDiv(nowNanos, WINDOW_NANOS), (long) WINDOWS);
    }

    /** Windows since it was served; an empty place is older than all. */
    private int age(int at, int window) {
        return places[at] == 0 ? WINDOWS : Math.floorMod(window - (int) (places[at] & WINDOWS - 1), WINDOWS);
    }
}
