package dev.loadline.guard;

import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Places;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Runs a server's events on its pool, while CPUs are short as many at a time as {@link Places} says; who ends takes the next one itself,
 * which costs neither a switch nor another thread. A pool of many threads that compete for few CPUs pays for the switches, and for what
 * each of them finds no longer in the caches.
 *
 * <p>While there is no limit an adapter gives events to its pool as ever: asking costs a volatile read. What waits here begins at
 * once when the limit is lifted: mode, watchdog, end of the guard. Thread-safe; calls neither the pool nor an event with its lock held.
 */
public final class Workers {
    /** Events that a thread runs before its pool has it back, which may want to end or to renew it. */
    private static final int BATCH = 64;

    /** One event; {@link #run} is called at most once, and {@link #rejected} in its place if the pool takes nothing more. */
    public interface Event extends Runnable {
        void rejected();
    }

    private final Executor pool;
    private final BooleanSupplier mayLimit;
    private final LongSupplier nanoTime;
    private final Consumer<Throwable> failed;
    private final Places<Event> places = new Places<>();
    private volatile boolean limited;
    /** What a test has in place of what is measured; else null. */
    private volatile Delay.Tick given;

    /**
     * @param mayLimit whether a limit may hold now
     * @param failed told what the pool threw
     */
    Workers(Executor pool, BooleanSupplier mayLimit, LongSupplier nanoTime, Consumer<Throwable> failed) {
        this.pool = pool;
        this.mayLimit = mayLimit;
        this.nanoTime = nanoTime;
        this.failed = failed;
    }

    /** Whether there is a limit, so that events are to come by {@link #execute}. */
    public boolean limited() {
        return limited;
    }

    /** Runs an event when there is a place for it. */
    public void execute(Places.Lane lane, Event event) {
        synchronized (places) {
            places.add(event, lane, nanoTime.getAsLong());
        }
        look();
    }

    /** A tick ended. @param targetNanos the delay that is aimed at */
    void passed(Delay.Tick tick, double targetNanos) {
        if (!mayLimit.getAsBoolean()) {
            look();
            return;
        }
        Delay.Tick instead = given;
        synchronized (places) {
            places.passed(nanoTime.getAsLong(), instead == null ? tick : instead, targetNanos);
        }
        look();
    }

    /** In place of what is measured, from now on: a test cannot keep CPUs short as it likes. */
    void give(Delay.Tick tick) {
        given = tick;
    }

    /** What a limit depends on may have changed: begins what may begin. */
    void look() {
        for (Event event = next(false); event != null; event = next(false)) {
            start(event);
        }
    }

    /** Places there are; {@link Integer#MAX_VALUE} without a limit. */
    int limit() {
        synchronized (places) {
            return places.limit();
        }
    }

    private Event next(boolean ended) {
        boolean may = mayLimit.getAsBoolean();
        synchronized (places) {
            if (ended) {
                places.ended(nanoTime.getAsLong());
            }
            if (!may) {
                places.open();
            }
            limited = places.limited();
            return places.next();
        }
    }

    private void start(Event event) {
        try {
            pool.execute(() -> work(event));
        } catch (RuntimeException | Error e) {
            if (!(e instanceof RejectedExecutionException)) {
                failed.accept(e);
            }
            synchronized (places) {
                places.ended(nanoTime.getAsLong());
            }
            event.rejected();
        }
    }

    /** On a thread of the pool. */
    private void work(Event first) {
        Event event = first;
        for (int ran = 0; event != null && ran < BATCH && !Thread.currentThread().isInterrupted(); ran++) {
            event = run(event);
        }
        if (event != null) {
            start(event);
        }
    }

    /** @return the event that has its place now; null if there is none */
    private Event run(Event event) {
        boolean returned = false;
        try {
            event.run();
            returned = true;
        } finally {
            if (!returned) {
                handOn();
            }
        }
        return next(true);
    }

    /** This thread goes down with what its event threw. */
    private void handOn() {
        Event next = next(true);
        if (next != null) {
            start(next);
        }
    }
}
