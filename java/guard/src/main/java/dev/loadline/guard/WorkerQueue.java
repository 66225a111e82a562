package dev.loadline.guard;

import dev.loadline.guard.cpu.VirtualThreads;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;

/**
 * Events that wait for a worker before the guard sees them, where only their number is known: a filter is called when they
 * have waited. A server that runs on virtual threads has them in the queue of their carriers.
 *
 * <p>Most of them, under overload, are refused as soon as they have a worker, and cost next to nothing. So each counts as
 * much as the share that was let in of late: then all that is said of events holds for those that are served, and time by
 * number is what each one waited (Little). Thread-safe; {@link #passed} from one thread.
 */
final class WorkerQueue {
    /** Share of those who came before that a tick of 250 ms leaves: a second. At a quarter of it small numbers tell nothing. */
    private static final double KEPT = Math.exp(-0.25);
    private static final double TICK_NANOS = 250e6;

    private static final IntSupplier UNKNOWN = () -> 0;

    private volatile IntSupplier length = UNKNOWN;
    private final LongAdder came = new LongAdder();
    private final LongAdder served = new LongAdder();
    private final LongAdder looks = new LongAdder();
    private final DoubleAdder seen = new DoubleAdder();
    private volatile LoopLag loops;
    private volatile long cameInTick;
    private double cameOfLate;
    private double servedOfLate;
    private volatile boolean virtual;
    private volatile double share = 1;

    /** @param length asked with each request: cheap, and does not throw */
    void length(IntSupplier length) {
        this.length = length;
    }

    /** In place of its length it is known how late event loops are. */
    void loops(LoopLag loops) {
        this.loops = loops;
    }

    /** Whether its length is known, or how late the loops are. */
    boolean isKnown() {
        return length != UNKNOWN || loops != null;
    }

    /** Somebody came out of it. */
    void left(boolean onVirtual) {
        virtual |= onVirtual;
        came.increment();
        looks.increment();
        seen.add(inQueue());
    }

    /** Who came out of it is served. */
    void served() {
        served.increment();
    }

    private double inQueue() {
        return Math.max(0, length.getAsInt()) + (virtual ? VirtualThreads.queued() : 0) + onLoops();
    }

    /** Those who come while one waits, by Little's law: that one's delay by how many come in a time. */
    private double onLoops() {
        LoopLag late = loops;
        return late == null ? 0 : late.nanos() * Math.max(cameInTick, came.sum()) / TICK_NANOS;
    }

    /** How many wait now, as so many of those that are served. */
    int now() {
        return (int) Math.round(inQueue() * share);
    }

    /** A tick ended. @return how many waited in it, on average, as so many of those that are served */
    double passed() {
        long looked = looks.sumThenReset();
        double mean = looked == 0 ? inQueue() : seen.sumThenReset() / looked;
        cameInTick = came.sumThenReset();
        cameOfLate = cameOfLate * KEPT + cameInTick;
        servedOfLate = servedOfLate * KEPT + served.sumThenReset();
        share = cameOfLate < 1 ? 1 : Math.min(1, servedOfLate / cameOfLate);
        return mean * share;
    }
}
