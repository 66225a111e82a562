package dev.loadline.share;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;

/**
 * The daemon's page, mapped. Its layout is described where it is written: {@code crates/share/src/page.rs}. The file is
 * never truncated, so that a mapping stays good when the daemon has gone.
 */
final class Page {
    private static final int MAGIC = 0;
    private static final int VERSION = 8;
    private static final int SEQUENCE = 16;
    private static final int CPUS = 32;
    private static final int STATE = 56;
    private static final int SET = 64;
    private static final int SET_WORDS = 16;
    private static final int LENGTH = SET + 8 * SET_WORDS;
    private static final int OUR_VERSION = 1;
    /** {@code LLSHARE1} in the machine's byte order. */
    private static final long OUR_MAGIC = ByteBuffer.wrap("LLSHARE1".getBytes(java.nio.charset.StandardCharsets.US_ASCII))
            .order(ByteOrder.nativeOrder()).getLong();

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer bytes;

    private Page(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    static Page open(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            if (file.size() < LENGTH) {
                throw new IOException(path + " is no page of a CPU manager: it has " + file.size() + " bytes");
            }
            var bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, LENGTH).order(ByteOrder.nativeOrder());
            int version = bytes.getInt(VERSION);
            if (bytes.getLong(MAGIC) != OUR_MAGIC || version != OUR_VERSION) {
                throw new IOException(path + " is a page of version " + version + ", and this loadline-share reads version "
                        + OUR_VERSION + ": use the jar that came with the daemon");
            }
            return new Page(bytes);
        }
    }

    /** CPUs assigned, in thousandths: one word, so that it needs no sequence. */
    int thousandths() {
        return (int) INT.getOpaque(bytes, CPUS);
    }

    /** Whether the daemon has not let this process go. */
    boolean isManaged() {
        return (long) LONG.getAcquire(bytes, STATE) == 1;
    }

    /** All of it, as of one moment. */
    Assignment read() {
        while (true) {
            long before = (long) LONG.getAcquire(bytes, SEQUENCE);
            double cpus = (int) INT.getOpaque(bytes, CPUS) / 1000.0;
            boolean managed = (long) LONG.getOpaque(bytes, STATE) == 1;
            long[] words = new long[SET_WORDS];
            for (int i = 0; i < SET_WORDS; i++) {
                words[i] = (long) LONG.getOpaque(bytes, SET + 8 * i);
            }
            VarHandle.acquireFence();
            if ((before & 1) == 0 && (long) LONG.getOpaque(bytes, SEQUENCE) == before) {
                return new Assignment(cpus, BitSet.valueOf(words), managed);
            }
            Thread.onSpinWait();
        }
    }
}
