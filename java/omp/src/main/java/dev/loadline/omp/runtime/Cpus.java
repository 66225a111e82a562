package dev.loadline.omp.runtime;

import dev.loadline.share.CpuSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.ServiceLoader;
import java.util.function.IntSupplier;

/** How many CPUs are at hand: from the CPU manager's client if there is one, else from the JVM. */
final class Cpus {
    /** How old an answer may be. */
    static final long FRESH_NS = 1_000_000;

    private static final List<CpuSource> SOURCES = sources();
    private static final IntSupplier OWN = Settings.OF_PROCESS.bind() ? Cpus::ofProcess : Runtime.getRuntime()::availableProcessors;

    private Cpus() {}

    private static List<CpuSource> sources() {
        var sources = new ArrayList<CpuSource>();
        try {
            ServiceLoader.load(CpuSource.class).forEach(sources::add);
        } catch (NoClassDefFoundError e) {
            // loadline-share is not on the class path: nobody gives this program its CPUs. The list stays empty, so that
            // nothing else here needs the interface.
        }
        return List.copyOf(sources);
    }

    /** Asks now: whole CPUs, because a team has whole threads, and one at least. */
    static int ask() {
        OptionalDouble given = given();
        return Math.max(1, given.isPresent() ? (int) Math.round(given.getAsDouble()) : OWN.getAsInt());
    }

    /** Whether somebody gives this program its CPUs, so that it need not find out what others leave. */
    static boolean isGiven() {
        return given().isPresent();
    }

    private static OptionalDouble given() {
        for (CpuSource source : SOURCES) {
            OptionalDouble cpus = source.cpus();
            if (cpus.isPresent()) {
                return cpus;
            }
        }
        return OptionalDouble.empty();
    }

    /** A bound thread's own mask has one CPU: ask for the process's. */
    private static int ofProcess() {
        return Math.min(Binding.allowed().length, QUOTA);
    }

    // Read before this thread is bound: the JVM counts the calling thread's mask, and the quota.
    private static final int QUOTA = Runtime.getRuntime().availableProcessors();

    /** A line of /proc/self/status; empty if there is none. */
    static String status(String key) {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(key)).map(line -> line.substring(key.length()).strip()).findFirst().orElse("");
        } catch (IOException e) {
            return ""; // no such file on this system: the callers say what that means
        }
    }
}
