package dev.loadline.omp.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Keeps what comes before it in memory off the cell's cache lines. */
class ForkCellBefore {
    int gap; // where a subclass could otherwise put a field
    long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15;
}

/** What a master writes for each region and its workers poll: one line to travel. */
class ForkCellLine extends ForkCellBefore {
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(ForkCellLine.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Region's sequence number in the upper 48 bits, team size in the lower 16. */
    private long word;

    /** The region's code; written before the word, read after it by those whom the word includes. */
    Region body;

    final long word() {
        return (long) WORD.getAcquire(this);
    }

    final void publish(long sequence, int size) {
        WORD.setVolatile(this, sequence << 16 | size);
    }

    static long sequence(long word) {
        return word >>> 16;
    }

    static int size(long word) {
        return (int) (word & 0xFFFF);
    }
}

/** Where a master tells its workers of the next region. */
final class ForkCell extends ForkCellLine {
    long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;
}
