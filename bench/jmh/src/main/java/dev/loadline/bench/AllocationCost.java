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

/** What the sampling of allocations costs the thread that allocates. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AllocationCost {
    /** Bytes of an object, its header of 16 included; bench/allocation-cost knows it too. */
    private static final int SIZE = 1 << 10;
    private static final long INTERVAL = 128 << 10;

    /**
     * never: no recorder has ever attached; recording: one samples no allocations; sampling: one does; each: one wants every object of
     * another class.
     */
    @Param({"never", "recording", "sampling", "each"})
    public String recorder;

    /** Frames of ours. */
    @Param({"5", "25"})
    public int depth;

    private Spool spool;

    /** Begins an iteration in the state wanted; each has a new spool, and so a new budget. */
    @Setup(Level.Iteration)
    public void begin() throws Exception {
        if (recorder.equals("each")) {
            spool = Spool.methods("+com.shop.Cart", false, 0);
        } else if (!recorder.equals("never")) {
            spool = Spool.allocations(recorder.equals("sampling") ? INTERVAL : 0);
        }
    }

    /** Ends it. */
    @TearDown(Level.Iteration)
    public void end() throws Exception {
        if (spool != null) {
            spool.stop();
            spool.failIfLost();
            spool.failIfSpared();
            spool = null;
        }
    }

    /** One object. */
    @Benchmark
    public Object object() {
        return below(depth);
    }

    private Object below(int frames) {
        return frames > 1 ? below(frames - 1) : new byte[SIZE - 16];
    }
}
