package dev.loadline.omp.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Binds threads to CPUs on request. Java has no call for it, so {@code taskset} does it, once per
 * thread; when that fails, it is said once and the thread stays unbound.
 */
final class Binding {
    private static final AtomicBoolean COMPLAINED = new AtomicBoolean();

    private Binding() {}

    /** The CPUs that the process may use, in order. */
    static int[] allowed() {
        int[] cpus = parse(Cpus.status("Cpus_allowed_list:"));
        return cpus.length > 0 ? cpus : IntStream.range(0, Runtime.getRuntime().availableProcessors()).toArray();
    }

    /** Reads a list as the kernel prints it: {@code 0-3,8}. Pure. */
    static int[] parse(String list) {
        if (list.isBlank()) {
            return new int[0];
        }
        return Stream.of(list.strip().split(","))
                .flatMapToInt(range -> {
                    String[] ends = range.split("-");
                    return IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
                })
                .toArray();
    }

    /** Binds the current thread to the CPU for this place in its team. */
    static void bind(int number) {
        int[] cpus = allowed();
        try {
            String tid = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
            Process taskset = new ProcessBuilder("taskset", "-cp", Integer.toString(cpus[number % cpus.length]), tid)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (taskset.waitFor() != 0) {
                complain("taskset refused");
            }
        } catch (IOException e) {
            complain(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void complain(String reason) {
        if (COMPLAINED.compareAndSet(false, true)) {
            System.err.println("loadline-omp: OMP_PROC_BIND: threads stay unbound: " + reason + " (needs taskset, from util-linux)");
        }
    }
}
