package dev.loadline.guard.cpu;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long the threads that run one server's events ran and waited for a CPU, from the kernel's scheduler statistics.
 * Who they are is found by what they do, not by a name: a thread is one of them from the first event that it runs.
 * What runs on a virtual thread runs on its carrier: that is the thread then, and found by looking at a few events of
 * each tick. A pool that several servers share is of each of them.
 *
 * <p>{@link #runsEvent} from any thread; all else from one.
 */
public final class ServerThreads {
    /** Looking costs some microseconds, and there are few carriers. */
    private static final int MOST_LOOKS = 32;
    /** Ticks after which a carrier that was not seen again is none any more. */
    private static final int CARRIER_TICKS = 40;

    private record Seen(long runNanos, long waitNanos) {}

    /** A kernel's thread, and the tick at which it was seen last. */
    private record Task(String tid, int tick) {}

    private final Path tasks;
    /** Of three numbers. */
    private final byte[] line = new byte[96];
    private final Path self;
    private final Map<Thread, String> workers = new ConcurrentHashMap<>();
    private final Map<String, Task> carriers = new ConcurrentHashMap<>();
    private final AtomicInteger looks = new AtomicInteger();
    private volatile int tick;
    private Map<String, Seen> seen = new HashMap<>();

    /** Time run and waited since the call before; both 0 where the kernel does not say. */
    public record Spent(long runNanos, long waitNanos) {}

    public ServerThreads() {
        this(Path.of("/proc/self/task"), Path.of("/proc/thread-self"));
    }

    /** @param self a link whose last name is the reader's thread id */
    ServerThreads(Path tasks, Path self) {
        this.tasks = tasks;
        this.self = self;
    }

    /** This thread runs an event of the server. */
    public void runsEvent() {
        Thread current = Thread.currentThread();
        if (VirtualThreads.isVirtual(current)) {
            if (looks.get() < MOST_LOOKS) {
                looks.incrementAndGet();
                String tid = tid();
                carriers.put(tid, new Task(tid, tick));
            }
        } else if (!workers.containsKey(current)) {
            workers.put(current, tid());
        }
    }

    /** Of the thread that asks; empty where the kernel does not say. */
    private String tid() {
        try {
            return Files.readSymbolicLink(self).getFileName().toString();
        } catch (IOException | UnsupportedOperationException e) {
            return "";
        }
    }

    /** Whether events run on virtual threads. */
    public boolean virtual() {
        return !carriers.isEmpty();
    }

    /** Time since the last call; a thread that ended in between takes its last moments with it. */
    public Spent sinceLast() {
        long run = 0;
        long wait = 0;
        var now = new HashMap<String, Seen>();
        for (String tid : current()) {
            Seen read = read(tid);
            Seen before = seen.get(tid);
            if (read != null) {
                now.put(tid, read);
            }
            if (read != null && before != null) {
                run += read.runNanos - before.runNanos;
                wait += read.waitNanos - before.waitNanos;
            }
        }
        seen = now;
        return new Spent(run, wait);
    }

    private Iterable<String> current() {
        tick++;
        looks.set(0);
        workers.keySet().removeIf(thread -> !thread.isAlive());
        carriers.values().removeIf(task -> tick - task.tick > CARRIER_TICKS);
        var all = new java.util.HashSet<>(workers.values());
        all.addAll(carriers.keySet());
        all.remove("");
        return all;
    }

    /** Null when the thread is gone, or this is not Linux. Read plainly: a reader has buffers of 24 KB, and there may be hundreds of threads. */
    private Seen read(String tid) {
        try (var in = new FileInputStream(tasks + "/" + tid + "/schedstat")) {
            int length = in.read(line);
            String[] stat = length < 0 ? new String[0] : new String(line, 0, length, StandardCharsets.ISO_8859_1).split(" ");
            return stat.length < 2 ? null : new Seen(Long.parseLong(stat[0]), Long.parseLong(stat[1].trim()));
        } catch (IOException e) {
            return null;
        }
    }

    /** Forgets what was read: the next call only begins to measure. */
    public void forget() {
        seen = new HashMap<>();
    }
}
