package dev.loadline.bench;

import dev.loadline.Loadline;
import dev.loadline.Span;
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

/** What one application event and one span cost their thread. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EventCost {
    /** never: no recorder has ever attached; recording: one records; after: one has recorded and has stopped. */
    @Param({"never", "recording", "after"})
    public String recorder;

    private Spool spool;
    private long value;

    /** Begins an iteration in the state wanted; each has a new spool, so that it cannot become full. */
    @Setup(Level.Iteration)
    public void begin() throws Exception {
        if (recorder.equals("never") || recorder.equals("after") && spool != null) {
            return;
        }
        spool = Spool.start();
        if (recorder.equals("after")) {
            for (int i = 0; i < 100_000; i++) {
                event();
                span();
            }
            spool.stop();
        }
    }

    /** Ends it. */
    @TearDown(Level.Iteration)
    public void end() throws Exception {
        if (recorder.equals("recording")) {
            spool.stop();
            spool.failIfLost();
        }
    }

    /** The loop that the other two are compared with. */
    @Benchmark
    public long nothing() {
        return ++value;
    }

    /** One application event. */
    @Benchmark
    public long event() {
        Loadline.event("items", ++value);
        return value;
    }

    /** One span, begin and end. */
    @Benchmark
    public long span() {
        try (Span span = Loadline.span("quote")) {
            return ++value;
        }
    }

    /** The clock alone, which every recorded event reads. */
    @Benchmark
    public long clock() {
        return System.nanoTime();
    }
}
