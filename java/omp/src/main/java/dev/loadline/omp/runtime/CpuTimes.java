package dev.loadline.omp.runtime;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * What the kernel says of CPU time: per thread, how long it ran and how long it was ready and waited
 * ({@code /proc/self/task/T/schedstat}); and how long the CPUs idled ({@code /proc/stat}). Where a system does
 * not say, there is nothing to adapt to, and all is 0.
 */
final class CpuTimes {
    /** Kernel ticks per second in {@code /proc/stat}: USER_HZ, 100 on every Linux that runs Java. */
    private static final long TICK_NS = 10_000_000;

    private CpuTimes() {}

    /** The kernel's number of the current thread; empty if it has none to tell. */
    static String currentThread() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
        } catch (IOException | UnsupportedOperationException e) {
            return ""; // not Linux: the caller then has nothing to watch
        }
    }

    /** Adds what a thread ran and waited, in ns, to two sums. */
    static void add(String thread, long[] ranAndWaited) {
        long[] values = thread.isEmpty() ? new long[0] : numbers(read("/proc/self/task/" + thread + "/schedstat"));
        if (values.length >= 2) {
            ranAndWaited[0] += values[0];
            ranAndWaited[1] += values[1];
        }
    }

    /** Time that some CPUs idled since the system started, in ns, added up. */
    static long idleNs(int[] cpus) {
        return idleNs(read("/proc/stat"), cpus);
    }

    /** Reads the lines {@code cpuN user nice system idle iowait …}. Pure. */
    static long idleNs(String stat, int[] cpus) {
        return stat.lines()
                .filter(line -> line.matches("cpu[0-9]+ .*"))
                .filter(line -> Arrays.binarySearch(cpus, Integer.parseInt(line.substring(3, line.indexOf(' ')))) >= 0)
                .mapToLong(line -> {
                    long[] values = numbers(line.substring(line.indexOf(' ')));
                    return values.length >= 5 ? (values[3] + values[4]) * TICK_NS : 0;
                })
                .sum();
    }

    private static long[] numbers(String line) {
        return line.isBlank() ? new long[0] : Arrays.stream(line.strip().split("\\s+")).mapToLong(Long::parseLong).toArray();
    }

    private static String read(String file) {
        try {
            return new String(Files.readAllBytes(Path.of(file)), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return ""; // the thread has ended, or this system has no such file
        }
    }
}
