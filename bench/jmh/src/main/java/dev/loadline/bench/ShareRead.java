package dev.loadline.bench;

import dev.loadline.share.Share;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What it costs to read how many CPUs one has, from a real daemon's page; bench/share-cost starts one. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ShareRead {
    private final Share share = Share.shared();

    /** Without a daemon this would measure something else. */
    @Setup
    public void check() {
        if (share.cpusGiven().isEmpty()) {
            throw new IllegalStateException("no CPU manager: bench/share-cost starts one");
        }
    }

    /** The call that a program makes before each parallel region. */
    @Benchmark
    public double cpusAssigned() {
        return share.cpusAssigned();
    }

    /** What the JVM itself offers instead. */
    @Benchmark
    public int availableProcessors() {
        return Runtime.getRuntime().availableProcessors();
    }
}
