package dev.loadline.agent.boot;

import java.util.Arrays;

/**
 * The recorded methods that a thread is in: a stack, of a platform thread or of a virtual one. Only that thread touches it;
 * it outlives sessions, hence holds none.
 */
final class Calls {
    /** What a level has: {@link #BEGIN}, {@link #CPU}, {@link #METHOD}, {@link #LEFT_OUT}. */
    static final int LEVEL = 4;

    static final int BEGIN = 0;
    static final int CPU = 1;
    static final int METHOD = 2;
    static final int LEFT_OUT = 3;

    private static final int FIRST_LEVELS = 16;

    /** Where a platform thread writes; null of a virtual one, which writes where its carrier does. */
    final Slot slot;

    /** The thread's id. */
    final long thread;

    /** The session that the rest belongs to; 0: none, it begins anew. */
    int epoch;

    /** Whether this thread's calls are wanted. */
    boolean wanted;

    /** Where the next level goes. */
    int top;

    long[] levels = new long[FIRST_LEVELS * LEVEL];

    Calls(Slot slot, long thread) {
        this.slot = slot;
        this.thread = thread;
    }

    void begin(int session, boolean isWanted) {
        epoch = session;
        wanted = isWanted;
        top = 0;
    }

    /** Makes room for one more level. */
    void grow() {
        levels = Arrays.copyOf(levels, 2 * levels.length);
    }

    /** The innermost level of this method, or -1; what is above it was left without a word. */
    int find(int method) {
        int at = top - LEVEL;
        while (at >= 0 && levels[at + METHOD] != method) {
            at -= LEVEL;
        }
        return at;
    }
}
