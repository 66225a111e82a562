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
    private static final int AT_RING = 80;
    private static final int AT_CALLS_LEFT_OUT = 152;
    private static final int AT_TABLE = 4096;
    private static final int CHUNK_LEFT = 12;
    private static final int CHUNK_PLACE = 24;
    private static final int KIND_STRINGS = 2;
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Tells this recording from those before; 1 to 32,767, so that it fits above a span's offset. */
    final int epoch;

    final long address;
    /** Entries of the ring's table; 0: chunks lie one behind the other. */
    private final int ring;

    final Strings strings = new Strings(this);
    /** SQL of prepared statements, and names of pools. */
    final Identities identities = new Identities();
    final SqlCache sql = new SqlCache();
    public final PoolsSeen pools = new PoolsSeen();
    /** What is wanted of methods; null: nothing. */
    final MethodScope methods;

    public Session(long address, int epoch, MethodScope methods) {
        this.address = address;
        this.epoch = epoch;
        this.ring = U.getInt(address + AT_RING);
        this.methods = methods;
        if (methods != null) {
            methods.of(this);
        }
    }

    /** One over zeroed memory that is no spool: what goes into it is nobody's. */
    static Session rehearsed(long memory, long size, int epoch, MethodScope methods) {
        U.putLong(memory + AT_CAPACITY, size);
        empty(memory);
        return new Session(memory, epoch, methods);
    }

    /** Forgets the chunks of such memory. */
    static void empty(long memory) {
        U.putLong(memory + AT_NEXT, CHUNK);
    }

    /** Claims a chunk and writes its header; 0 if the spool is full. */
    long claim(int kind, int tid, long javaId) {
        for (;;) {
            long next = U.getLongVolatile(null, address + AT_NEXT);
            if (next + CHUNK > U.getLongVolatile(null, address + AT_CAPACITY)) {
                return 0;
            }
            long at = address + offset(next); // before it is ours: until then nobody changes what the table says of it
            if (U.compareAndSetLong(null, address + AT_NEXT, next, next + CHUNK)) {
                U.putInt(at + 4, kind);
                U.putInt(at + 8, tid);
                U.putLong(at + 16, javaId);
                U.putLong(at + CHUNK_PLACE, next);
                U.putIntRelease(null, at, MAGIC);
                return at;
            }
        }
    }

    long claimStrings() {
        return claim(KIND_STRINGS, 0, 0);
    }

    /** Says that nobody writes into this chunk any more. */
    void leave(long chunk) {
        U.putIntRelease(null, chunk + CHUNK_LEFT, 1);
    }

    /** What to add to an offset in this chunk, so that no other event of the recording ever has it. */
    long unique(long chunk) {
        return U.getLong(chunk + CHUNK_PLACE) - (chunk - address);
    }

    private long offset(long place) {
        return ring == 0 ? place : Integer.toUnsignedLong(U.getInt(address + AT_TABLE + 4 * (place / CHUNK % ring))) * CHUNK;
    }

    void countLost() {
        U.getAndAddLong(null, address + AT_LOST, 1);
    }

    /** So many calls of methods were left out so far, outside of any that is recorded. */
    void tellLeftOut(long calls) {
        U.putLong(address + AT_CALLS_LEFT_OUT, calls);
    }

    void countLostString() {
        U.getAndAddLong(null, address + AT_LOST_STRINGS, 1);
    }
}
