package dev.loadline.bench;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Plays the recorder for the JVM that it runs in: the spool, the FIFO, the attach. Layout and
 * handshake are those of {@code crates/trace/src/spool/agent.rs}.
 *
 * <p>System properties: {@code loadline.agent} the agent's jar, {@code loadline.library} its native
 * half. The spool lies in /dev/shm, so that no disk is measured.
 */
final class Spool {
    private static final long SIZE = 4L << 30;
    private static final int CHUNK = 64 * 1024;
    private static final int AT_LOST = 32;
    private static final int AT_STATE = 48;
    private static final int AT_STACKS = 88;
    private static final int AT_ALLOCATIONS = 160;
    private static final int AT_SPARED_ALLOCATIONS = 168;
    private static final int AT_METHOD_SHORTEST = 136;
    private static final int AT_METHOD_CPU = 144;
    private static final int AT_METHODS = 192;
    private static final int RECORDING = 2;
    private static final int STOPPED = 3;
    private static final long PATIENCE_MS = 30_000;

    private final Path directory;
    private RandomAccessFile control;
    private long lost;
    private long spared;

    private Spool(Path directory) {
        this.directory = directory;
    }

    /** A recording of all levels, without stacks. */
    static Spool start() throws Exception {
        return start(0);
    }

    /** A recording of all levels, with stacks of waits of this length and longer; 0: of none. */
    static Spool start(long stacksNs) throws Exception {
        return start(header().putLong(AT_STACKS, stacksNs));
    }

    /** A recording of all levels that samples allocations after so many bytes; 0: never. */
    static Spool allocations(long everyBytes) throws Exception {
        return start(header().putLong(AT_ALLOCATIONS, everyBytes));
    }

    /** A recording of all levels and of the methods that these filters take, a line each. */
    static Spool methods(String filters, boolean cpu, long shortestNs) throws Exception {
        ByteBuffer header = header().putLong(AT_METHOD_SHORTEST, shortestNs).putLong(AT_METHOD_CPU, cpu ? 1 : 0);
        return start(header.put(AT_METHODS, filters.getBytes(StandardCharsets.UTF_8)));
    }

    private static Spool start(ByteBuffer header) throws Exception {
        Path shm = Path.of("/dev/shm");
        Path directory = Files.isWritable(shm)
                ? Files.createTempDirectory(shm, "loadline-bench") : Files.createTempDirectory("loadline-bench");
        Spool spool = new Spool(directory);
        Path events = spool.file("agent.events");
        try (FileChannel file = FileChannel.open(events, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            file.write(header);
            file.write(ByteBuffer.wrap(new byte[1]), SIZE - 1);
        }
        run(List.of("mkfifo", spool.file("agent.control").toString()));
        spool.control = new RandomAccessFile(spool.file("agent.control").toFile(), "rw"); // "rw" does not wait for a reader
        // A JVM may not attach to itself: a helper does.
        run(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules", "jdk.attach", "-cp", System.getProperty("java.class.path"),
                Attach.class.getName(), Long.toString(ProcessHandle.current().pid()),
                System.getProperty("loadline.agent"), directory.toString()));
        spool.await(RECORDING);
        return spool;
    }

    void stop() throws Exception {
        control.write("stop\n".getBytes(StandardCharsets.US_ASCII));
        await(STOPPED);
        control.close();
        lost = read(AT_LOST).getLong();
        spared = read(AT_SPARED_ALLOCATIONS).getLong();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    void failIfLost() {
        if (lost > 0) {
            throw new IllegalStateException(lost + " events were lost: iterations are too long for a spool of " + SIZE);
        }
    }

    void failIfSpared() {
        if (spared > 0) {
            throw new IllegalStateException(spared + " samples were left out for what they cost: iterations are too long");
        }
    }

    private static ByteBuffer header() {
        ByteBuffer header = ByteBuffer.allocate(CHUNK).order(ByteOrder.LITTLE_ENDIAN);
        header.put(0, "LLAGENT1".getBytes(StandardCharsets.US_ASCII));
        header.putInt(8, 1).putInt(12, CHUNK).putLong(16, SIZE).putLong(24, CHUNK).putInt(52, 7);
        header.put(1024, System.getProperty("loadline.library").getBytes(StandardCharsets.UTF_8));
        return header;
    }

    private void await(int state) throws Exception {
        for (long waited = 0; waited < PATIENCE_MS; waited += 5) {
            int now = read(AT_STATE).getInt();
            if (now == state) {
                return;
            }
            if (now > STOPPED) {
                byte[] message = new byte[1024];
                read(2048).get(message);
                throw new IllegalStateException(new String(message, StandardCharsets.UTF_8).trim());
            }
            Thread.sleep(5);
        }
        throw new IllegalStateException("the agent did not reach state " + state);
    }

    private ByteBuffer read(long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel file = FileChannel.open(file("agent.events"))) {
            file.read(bytes, at);
        }
        return bytes.flip();
    }

    private Path file(String name) {
        return directory.resolve(name);
    }

    private static void run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(command + ": " + output);
        }
    }
}
