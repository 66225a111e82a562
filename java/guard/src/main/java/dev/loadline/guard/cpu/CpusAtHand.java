package dev.loadline.guard.cpu;

import dev.loadline.share.CpuSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/** The CPUs at hand; see the package. Not thread-safe. */
public final class CpusAtHand {
    /**
     * An answer.
     *
     * @param cpus above zero
     * @param from who said so
     */
    public record Answer(double cpus, String from) {}

    private final double fixed;
    private final List<CpuSource> sources;
    private final Cgroup cgroup;
    private final IntSupplier processors;

    CpusAtHand(double fixed, List<CpuSource> sources, Cgroup cgroup, IntSupplier processors) {
        this.fixed = fixed;
        this.sources = sources;
        this.cgroup = cgroup;
        this.processors = processors;
    }

    /** @param fixed what the configuration says; 0 to find out */
    public static CpusAtHand ofThisProcess(double fixed) {
        var sources = new ArrayList<CpuSource>();
        try {
            var found = ServiceLoader.load(CpuSource.class, CpusAtHand.class.getClassLoader()).iterator();
            while (found.hasNext()) {
                sources.add(found.next());
            }
        } catch (NoClassDefFoundError e) {
            // loadline-share is not on the class path: nobody gives this process its CPUs. The list stays empty, so that
            // nothing else here needs the interface.
        } catch (ServiceConfigurationError e) {
            System.getLogger("loadline-guard").log(System.Logger.Level.WARNING,
                "loadline-guard: a CPU source cannot be used: " + e.getMessage());
        }
        return ofThisProcess(fixed, sources);
    }

    /** @param sources to be asked, in this order */
    public static CpusAtHand ofThisProcess(double fixed, List<CpuSource> sources) {
        return new CpusAtHand(fixed, sources, Cgroup.of(Path.of("/proc/self"), Path.of("/sys/fs/cgroup")),
            // Live: it follows the affinity of the calling thread, and cpusets.
            () -> Runtime.getRuntime().availableProcessors());
    }

    /** @param failed told what a source threw: the next one is asked then */
    public Answer now(Consumer<Throwable> failed) {
        if (fixed > 0) {
            return new Answer(fixed, "configuration");
        }
        for (CpuSource source : sources) {
            try {
                OptionalDouble given = source.cpus();
                if (given.isPresent() && given.getAsDouble() > 0) {
                    return new Answer(given.getAsDouble(), source.name());
                }
            } catch (RuntimeException | Error e) {
                failed.accept(e);
            }
        }
        int available = processors.getAsInt();
        OptionalDouble quota = cgroup.quota();
        if (quota.isPresent() && quota.getAsDouble() < available) {
            return new Answer(quota.getAsDouble(), "cgroup quota");
        }
        return new Answer(available, "processors");
    }

    /**
     * Tells who gives CPUs how many are of use; who has fixed them is not told.
     *
     * @param failed told what a source threw: the others hear it all the same
     */
    public void request(double cpus, Consumer<Throwable> failed) {
        if (fixed > 0) {
            return;
        }
        for (CpuSource source : sources) {
            try {
                source.cpusRequested(cpus);
            } catch (RuntimeException | Error e) {
                failed.accept(e);
            }
        }
    }
}
