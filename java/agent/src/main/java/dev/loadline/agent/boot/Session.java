package dev.loadline.agent.boot;

import jdk.internal.misc.Unsafe;

/** One recording: the mapped spool, and what has been put into it. */
public final class Session {
    /** Size of a chunk; the first begins at this offset too. */
    public static final int CHUNK = 64 * 1024;

    static final int CHUNK_HEADER = 32;
    private static final int MAGIC = 'L' | 'L' << 8 | 'C' << 16 | 'K' << 24;
    private static final int AT_CAPACITY = 16;
    private static final int AT_NEXT = 24;
    private static final int AT_LOST = 32;
    private static final int AT_LOST_STRINGS = 40;
    private static final int KIND_STRINGS = 2;
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Tells this recording from those before; 1 to 32,767, so that it fits above a span's offset. */
    final int epoch;

    final long address;
    final Strings strings = new Strings(this);
    /** SQL of prepared statements, and names of pools. */
    final Identities identities = new Identities();
    final SqlCache sql = new SqlCache();

    public Session(long address, int epoch) {
        this.address = address;
        this.epoch = epoch;
    }

    /** Claims a chunk and writes its header; 0 if the spool is full. */
    long claim(int kind, int tid, long javaId) {
        long at = claim();
        if (at != 0) {
            U.putInt(at + 4, kind);
            U.putInt(at + 8, tid);
            U.putLong(at + 16, javaId);
            U.putIntRelease(null, at, MAGIC);
        }
        return at;
    }

    long claimStrings() {
        return claim(KIND_STRINGS, 0, 0);
    }

    private long claim() {
        for (;;) {
            long next = U.getLongVolatile(null, address + AT_NEXT);
            if (next + CHUNK > U.getLongVolatile(null, address + AT_CAPACITY)) {
                return 0;
            }
            if (U.compareAndSetLong(null, address + AT_NEXT, next, next + CHUNK)) {
                return address + next;
            }
        }
    }

    void countLost() {
        U.getAndAddLong(null, address + AT_LOST, 1);
    }

    void countLostString() {
        U.getAndAddLong(null, address + AT_LOST_STRINGS, 1);
    }
}
