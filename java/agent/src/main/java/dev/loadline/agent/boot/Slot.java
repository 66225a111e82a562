package dev.loadline.agent.boot;

import jdk.internal.misc.Unsafe;

/** A kernel thread's place to write. Only that thread touches it; it outlives sessions, hence holds none. */
final class Slot {
    final int tid;
    /** Java id of the platform thread that this is, carriers included; 0 if not known. */
    final long javaId;
    /** Where the native half reads whether it is at work, of which it takes no stack of a wait if not. */
    final long atWork;
    /** The session that the rest belongs to. */
    int epoch;
    /** Where the next event goes, and where its chunk ends; both 0 without a chunk. */
    long at;
    long end;
    /** What to add to an event's offset in the spool to have a number that no other event has. */
    long unique;
    /** Virtual thread for which the chunk speaks now; 0 is the thread itself. */
    long speaker;

    Slot(int tid, long javaId, long atWork) {
        this.tid = tid;
        this.javaId = javaId;
        this.atWork = atWork;
    }

    /** In this session it begins or ends a visit. */
    void says(boolean works) {
        Unsafe.getUnsafe().putInt(atWork, epoch << 1 | (works ? 1 : 0));
    }
}
