package dev.loadline.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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

/** What the stack of a wait costs the thread that waited. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StackCost {
    /** Of any wait. */
    private static final long ALWAYS_NS = 1;

    /** never: no recorder has ever attached; waits: one records no stacks; stacks: it records one of each wait. */
    @Param({"never", "waits", "stacks"})
    public String recorder;

    /** Frames of ours. */
    @Param({"5", "25", "100"})
    public int depth;

    private Spool spool;

    /** Begins an iteration in the state wanted; each has a new spool, so that it cannot become full. */
    @Setup(Level.Iteration)
    public void begin() throws Exception {
        if (!recorder.equals("never")) {
            spool = Spool.start(recorder.equals("stacks") ? ALWAYS_NS : 0);
        }
    }

    /** Ends it. */
    @TearDown(Level.Iteration)
    public void end() throws Exception {
        if (spool != null) {
            spool.stop();
            spool.failIfLost();
            spool = null;
        }
    }

    /** One park that returns at once. */
    @Benchmark
    public int park() {
        return below(depth);
    }

    private int below(int frames) {
        if (frames > 1) {
            return below(frames - 1) + 1;
        }
        LockSupport.unpark(Thread.currentThread());
        LockSupport.park(this);
        return 1;
    }
}
