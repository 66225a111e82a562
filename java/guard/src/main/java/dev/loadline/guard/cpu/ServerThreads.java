package dev.loadline.guard.cpu;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * How long the server's threads ran and how long they waited for a CPU, from the kernel's scheduler
 * statistics. A thread is one of the server's when its name begins as the server's threads' names do.
 * Not thread-safe.
 */
public final class ServerThreads {
    /** The kernel keeps 15 characters of a name. */
    private static final int COMM = 15;

    private record Seen(boolean ours, long runNanos, long waitNanos) {}

    private final Path tasks;
    private final String prefix;
    private Map<String, Seen> seen = new HashMap<>();

    /** Time run and waited since the call before; both 0 where the kernel does not say. */
    public record Spent(long runNanos, long waitNanos) {}

    public ServerThreads(String namePrefix) {
        this(Path.of("/proc/self/task"), namePrefix);
    }

    ServerThreads(Path tasks, String namePrefix) {
        this.tasks = tasks;
        this.prefix = namePrefix.length() > COMM ? namePrefix.substring(0, COMM) : namePrefix;
    }

    /** Time since the last call; a thread that ended in between takes its last moments with it. */
    public Spent sinceLast() {
        long run = 0;
        long wait = 0;
        var now = new HashMap<String, Seen>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(tasks)) {
            for (Path task : all) {
                String tid = task.getFileName().toString();
                Seen before = seen.get(tid);
                boolean ours = before == null ? line(task.resolve("comm")).startsWith(prefix) : before.ours;
                if (!ours) {
                    now.put(tid, before == null ? new Seen(false, 0, 0) : before);
                    continue;
                }
                String[] stat = line(task.resolve("schedstat")).split(" ");
                if (stat.length < 2) {
                    continue;
                }
                var current = new Seen(true, Long.parseLong(stat[0]), Long.parseLong(stat[1]));
                now.put(tid, current);
                if (before != null) {
                    run += current.runNanos - before.runNanos;
                    wait += current.waitNanos - before.waitNanos;
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            return new Spent(0, 0); // no /proc: not Linux
        }
        seen = now;
        return new Spent(run, wait);
    }

    /** Forgets: the next call only begins to measure. */
    public void forget() {
        seen = new HashMap<>();
    }

    private static String line(Path file) {
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            String line = reader.readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            return ""; // the thread is gone
        }
    }
}
