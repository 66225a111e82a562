package dev.loadline.agent.testing;

import com.sun.tools.attach.VirtualMachine;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Plays the recorder: makes spool and FIFO, attaches, waits, stops, reads. */
public final class TestRecorder implements AutoCloseable {
    public static final int RECORDING = 2;
    public static final int STOPPED = 3;
    public static final int FAILED = 4;
    public static final int ALL_LEVELS = 7;
    public static final int MAY_REDEFINE = 1;
    public static final int RESTORE = 2;
    public static final int ONLY_ARM = 4;

    public static final Path JAR = Path.of("target/loadline-agent.jar").toAbsolutePath();
    private static final Path LIBRARY = Path.of("target/libloadline-agent.so").toAbsolutePath();
    /** Waits of this length have stacks. */
    private static final long STACKS_NS = 10_000_000;
    private static final int AT_SAMPLES = 112;
    private static final int AT_ALLOCATIONS = 160;
    private static final int AT_VM_LOG = 176;
    private static final int AT_METHOD_SHORTEST = 136;
    private static final int AT_METHODS = 192;
    private static final int METHODS_TEXT = 832;
    private static final long SIZE = 256L << 20;
    private static final long PATIENCE_MS = 20_000;

    private static boolean built;

    public final Path directory;
    private RandomAccessFile control;

    private TestRecorder(Path directory) {
        this.directory = directory;
    }

    /** Makes a directory for a recording of all levels that redefines nothing. */
    public static TestRecorder prepare() throws Exception {
        return prepare(SIZE, ALL_LEVELS);
    }

    /** Makes a directory for a recording of all levels in one of the modes. */
    public static TestRecorder prepare(int mode) throws Exception {
        return prepare(SIZE, ALL_LEVELS, mode);
    }

    /** Makes a directory for a recording that redefines nothing. */
    public static TestRecorder prepare(long capacity, int levels) throws Exception {
        return prepare(capacity, levels, 0);
    }

    /** What runs is sampled too, after so much CPU time of a thread. */
    public TestRecorder sampling(long everyNs) throws IOException {
        return put(AT_SAMPLES, everyNs);
    }

    /** Allocations are sampled too, after so many bytes of a thread's. */
    public TestRecorder allocations(long everyBytes) throws IOException {
        return put(AT_ALLOCATIONS, everyBytes);
    }

    /** The JVM's log is made, which says this beside safepoints: bits. */
    public TestRecorder log(long bits) throws IOException {
        Files.createFile(log());
        return put(AT_VM_LOG, bits);
    }

    /** What the JVM's log says. */
    public Path log() {
        return directory.resolve("vm.log");
    }

    private TestRecorder put(int at, long value) throws IOException {
        try (FileChannel file = FileChannel.open(spool(), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value), at);
        }
        return this;
    }

    /** Methods are recorded too: filters a line each, with their CPU time or not, those that are not shorter than this. */
    public TestRecorder methods(String filters, boolean cpu, long shortestNs) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(AT_METHODS + METHODS_TEXT - AT_METHOD_SHORTEST).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(0, shortestNs).putLong(8, cpu ? 1 : 0);
        bytes.put(AT_METHODS - AT_METHOD_SHORTEST, filters.getBytes(StandardCharsets.UTF_8));
        try (FileChannel file = FileChannel.open(spool(), StandardOpenOption.WRITE)) {
            file.write(bytes, AT_METHOD_SHORTEST);
        }
        return this;
    }

    private static TestRecorder prepare(long capacity, int levels, int mode) throws Exception {
        buildLibrary();
        TestRecorder recorder = new TestRecorder(Files.createTempDirectory("loadline-agent-test"));
        ByteBuffer header = ByteBuffer.allocate(Spool.CHUNK).order(ByteOrder.LITTLE_ENDIAN);
        header.put(0, "LLAGENT1".getBytes(StandardCharsets.US_ASCII));
        header.putInt(8, 1).putInt(12, Spool.CHUNK).putLong(16, capacity).putLong(24, Spool.CHUNK);
        header.putInt(52, levels).putInt(72, (int) ProcessHandle.current().pid()).putInt(76, mode).putLong(88, STACKS_NS);
        header.put(1024, LIBRARY.toString().getBytes(StandardCharsets.UTF_8));
        try (FileChannel file = FileChannel.open(
                recorder.spool(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            file.write(header);
            file.write(ByteBuffer.allocate(1), SIZE - 1);
        }
        File fifo = recorder.directory.resolve("agent.control").toFile();
        run("mkfifo", fifo.getPath());
        recorder.control = new RandomAccessFile(fifo, "rw"); // "rw" does not wait for a reader
        return recorder;
    }

    /** Attaches to a JVM, and returns without waiting for the recording. */
    public TestRecorder attach(long pid) throws Exception {
        VirtualMachine vm = VirtualMachine.attach(Long.toString(pid));
        try {
            vm.loadAgent(JAR.toString(), directory.toString());
        } finally {
            vm.detach();
        }
        return this;
    }

    /** Comes in as recorders do, by the door if there is one, and waits until it records. */
    public TestRecorder record(long pid) throws Exception {
        if (Files.exists(door(pid))) {
            enter(pid);
        } else {
            attach(pid);
        }
        await(RECORDING);
        return this;
    }

    /** Comes in by the door of an agent that was there at start, and returns when it has answered. */
    public TestRecorder enter(long pid) throws IOException {
        try (SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(door(pid)))) {
            caller.write(StandardCharsets.UTF_8.encode(directory + "\n"));
            ByteBuffer answer = ByteBuffer.allocate(64);
            while (caller.read(answer) >= 0) {
                // To its end.
            }
            if (!"heard\ndone\n".equals(new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8))) {
                throw new IOException("the door said something else");
            }
        }
        return this;
    }

    /** Stops the recording and reads it. */
    public Spool stop() throws Exception {
        control.write("stop\n".getBytes(StandardCharsets.US_ASCII));
        await(STOPPED);
        return read();
    }

    /** Dies as a killed recorder does: without a word. */
    public void die() throws IOException {
        control.close();
    }

    public Spool read() throws IOException {
        return Spool.read(spool());
    }

    /** Where the door is of an agent that was there at start. */
    private static Path door(long pid) {
        return Path.of("/tmp/.loadline-" + pid + "/door");
    }

    /** Waits for a state. */
    public void await(int state) throws Exception {
        Spool now = Spool.head(spool());
        for (long waited = 0; waited < PATIENCE_MS; waited += 10) {
            now = Spool.head(spool());
            if (now.state == state) {
                return;
            }
            if (now.state == FAILED) {
                break;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("state is " + now.state + ", not " + state + ": " + now.message);
    }

    @Override
    public void close() throws IOException {
        control.close();
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    private Path spool() {
        return directory.resolve("agent.events");
    }

    private static synchronized void buildLibrary() throws Exception {
        if (!built) {
            run("src/main/c/build.sh", LIBRARY.toString());
            built = true;
        }
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " failed");
        }
    }
}
