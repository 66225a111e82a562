package dev.loadline.agent;

import java.io.EOFException;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;

/**
 * The spool's header, read and written through the file: the page cache makes it the same as the
 * mapping. For what is written rarely; probes use the mapping.
 */
final class SpoolHeader {
    static final int STARTING = 1;
    static final int RECORDING = 2;
    static final int STOPPED = 3;
    static final int FAILED = 4;

    static final int LEVEL_JVM = 1;
    static final int LEVEL_SERVER = 2;
    static final int LEVEL_APP = 4;

    /** Loaded classes may be redefined, to place probes. */
    static final int MAY_REDEFINE = 1;
    /** Probes are taken out at the end. */
    static final int RESTORE = 2;
    /** Probes are placed, and nothing is recorded. */
    static final int ONLY_ARM = 4;

    private static final byte[] MAGIC = "LLAGENT1".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 1;
    /** Of a spool of bounded size, whose chunks are used again. */
    private static final int RING_VERSION = 2;
    private static final int CHUNK = 64 * 1024;
    private static final int AT_VERSION = 8;
    private static final int AT_CHUNK = 12;
    private static final int AT_STATE = 48;
    private static final int AT_LEVELS = 52;
    private static final int AT_BEGIN = 56;
    private static final int AT_END = 64;
    private static final int AT_RECORDER_PID = 72;
    private static final int AT_MODE = 76;
    private static final int AT_METHOD_SHORTEST = 136;
    private static final int AT_METHOD_CPU = 144;
    private static final int AT_VM_LOG = 176;
    private static final int AT_METHODS = 192;
    private static final int AT_LIBRARY = 1024;
    private static final int AT_MESSAGE = 2048;
    private static final int AT_INFO = 3072;
    private static final int TEXT = 1024;
    private static final int METHODS_TEXT = 832;

    private final File file;
    private final StringBuilder message = new StringBuilder();

    private SpoolHeader(File file) {
        this.file = file;
    }

    /** Opens a spool, if it is one of this version. */
    static SpoolHeader open(File file) throws IOException {
        SpoolHeader header = new SpoolHeader(file);
        byte[] begin = header.read(0, 16);
        for (int i = 0; i < MAGIC.length; i++) {
            if (begin[i] != MAGIC[i]) {
                throw new IOException(file + " is not an agent's spool");
            }
        }
        int version = int32(begin, AT_VERSION);
        if (version != VERSION && version != RING_VERSION || int32(begin, AT_CHUNK) != CHUNK) {
            throw new IOException(file + " has layout " + version + ", this agent writes " + VERSION + " and " + RING_VERSION
                    + ": use the agent that came with the recorder");
        }
        return header;
    }

    File file() {
        return file;
    }

    int levels() throws IOException {
        return int32(read(AT_LEVELS, 4), 0);
    }

    /** What may be done to the program: bits. */
    int mode() throws IOException {
        return int32(read(AT_MODE, 4), 0);
    }

    int recorderPid() throws IOException {
        return int32(read(AT_RECORDER_PID, 4), 0);
    }

    String library() throws IOException {
        return readText(AT_LIBRARY, TEXT);
    }

    /** Filters of methods, a line each; those of threads begin with a tab. Empty: no methods are recorded. */
    String methods() throws IOException {
        return readText(AT_METHODS, METHODS_TEXT);
    }

    /** Invocations that are shorter are only counted, in ns. */
    long methodShortest() throws IOException {
        byte[] b = read(AT_METHOD_SHORTEST, 8);
        return int32(b, 0) & 0xFFFF_FFFFL | (long) int32(b, 4) << 32;
    }

    /** Whether invocations have their CPU time. */
    boolean methodCpu() throws IOException {
        return int32(read(AT_METHOD_CPU, 4), 0) != 0;
    }

    /** What more the JVM's log is to say: bits of {@link VmLog}. */
    int vmLog() throws IOException {
        return int32(read(AT_VM_LOG, 4), 0);
    }

    private String readText(int at, int length) throws IOException {
        byte[] text = read(at, length);
        int end = 0;
        while (end < length && text[end] != 0) {
            end++;
        }
        return new String(text, 0, end, StandardCharsets.UTF_8);
    }

    void state(int state) throws IOException {
        write(AT_STATE, bytes(state, 4));
    }

    void begin(long nanos) throws IOException {
        write(AT_BEGIN, bytes(nanos, 8));
    }

    void end(long nanos) throws IOException {
        write(AT_END, bytes(nanos, 8));
    }

    void info(String json) throws IOException {
        write(AT_INFO, text(json));
    }

    /** Adds a line to the message. */
    synchronized void warn(String line) throws IOException {
        message.append(message.length() == 0 ? "" : "\n").append(line);
        write(AT_MESSAGE, text(message.toString()));
    }

    /** The recording did not come about, and this is why. */
    synchronized void fail(String why) throws IOException {
        write(AT_MESSAGE, text(why));
        state(FAILED);
    }

    /** A text field: cut at the end of a character, and ended by a zero. */
    static byte[] text(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(utf8.length, TEXT - 1);
        while (length < utf8.length && length > 0 && (utf8[length] & 0xC0) == 0x80) {
            length--;
        }
        byte[] field = new byte[TEXT];
        System.arraycopy(utf8, 0, field, 0, length);
        return field;
    }

    private byte[] read(long at, int length) throws IOException {
        byte[] bytes = new byte[length];
        try (RandomAccessFile in = new RandomAccessFile(file, "r")) {
            in.seek(at);
            in.readFully(bytes);
        } catch (EOFException e) {
            throw new IOException(file + " is too short for an agent's spool", e);
        }
        return bytes;
    }

    private void write(long at, byte[] bytes) throws IOException {
        if (!file.exists()) {
            throw new FileNotFoundException(file + " is gone, and its recorder with it"); // else it would be made anew
        }
        // No FileChannel: it shares its code with sockets, as compiled for which that would be thrown away (see Callers).
        try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
            out.seek(at);
            out.write(bytes);
        }
    }

    private static int int32(byte[] b, int at) {
        return b[at] & 0xFF | (b[at + 1] & 0xFF) << 8 | (b[at + 2] & 0xFF) << 16 | b[at + 3] << 24;
    }

    private static byte[] bytes(long value, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (value >>> 8 * i);
        }
        return bytes;
    }
}
