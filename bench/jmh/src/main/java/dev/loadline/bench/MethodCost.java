package dev.loadline.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What an invocation of a method with a probe costs its thread. The JVM has the agent at start, with probes in {@link Probed}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MethodCost {
    private static final String FILTER = "dev.loadline.bench.MethodCost$Probed";
    private static final long AN_HOUR_NS = 3_600_000_000_000L;

    /**
     * dormant: nobody records; other: one records, but no methods; thread: methods, but not on this thread; method: methods, but not
     * this one; brief: this one, if it takes an hour; wall, cpu: this one with its time, and with CPU time as well.
     */
    @Param({"dormant", "other", "thread", "method", "brief", "wall", "cpu"})
    public String recorder;

    private Spool spool;
    private long value;

    /** Begins an iteration; each has a new spool, so that it cannot become full. */
    @Setup(Level.Iteration)
    public void begin() throws Exception {
        String more = recorder.equals("thread") ? "\n\t!*" : recorder.equals("method") ? "\n!**.step" : "";
        if (recorder.equals("other")) {
            spool = Spool.start();
        } else if (!recorder.equals("dormant")) {
            spool = Spool.methods(FILTER + more, recorder.equals("cpu"), recorder.equals("brief") ? AN_HOUR_NS : 0);
        }
    }

    /** Ends it. */
    @TearDown(Level.Iteration)
    public void end() throws Exception {
        if (spool != null) {
            spool.stop();
            spool.failIfLost();
        }
    }

    /** The same method without a probe. */
    @Benchmark
    public long plain() {
        value = Plain.step(value);
        return value;
    }

    /** What of a recorded one is the machine's clock. */
    @Benchmark
    public long clocks() {
        long begin = System.nanoTime();
        value = Plain.step(value);
        return System.nanoTime() - begin;
    }

    /** One invocation. */
    @Benchmark
    public long invocation() {
        value = Probed.step(value);
        return value;
    }

    /** Its methods have no probes. */
    static final class Plain {
        private Plain() {}

        static long step(long x) {
            return x * 31 + 7;
        }
    }

    /** Its methods have probes. */
    static final class Probed {
        private Probed() {}

        static long step(long x) {
            return x * 31 + 7;
        }
    }
}
