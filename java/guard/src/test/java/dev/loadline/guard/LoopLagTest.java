package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Loops that run what they were given when the test says so. */
class LoopLagTest {
    private static final long MS = 1_000_000;

    private long now = 1_000 * MS;
    private final Queue<Runnable> given = new ArrayDeque<>();
    private final LoopLag idle = new LoopLag(List.of(Runnable::run), () -> now);
    private final LoopLag busy = new LoopLag(List.<Executor>of(given::add), () -> now);

    @Test
    void a_loop_that_is_idle_is_not_late() {
        for (int i = 0; i < 10; i++) {
            now += 30 * MS;
            assertEquals(0, idle.nanos());
        }
    }

    @Test
    void who_comes_by_a_socket_waits_twice_as_long_as_a_task() {
        assertEquals(0, busy.nanos());
        now += 40 * MS;
        given.remove().run();
        assertEquals(80 * MS, busy.nanos());
    }

    @Test
    void a_loop_that_has_not_come_to_it_yet_is_as_late_as_it_is() {
        busy.nanos();
        now += 300 * MS;
        assertEquals(600 * MS, busy.nanos());
        assertEquals(1, given.size(), "one at a time");
    }

    @Test
    void loops_count_alike() {
        var both = new LoopLag(List.<Executor>of(given::add, Runnable::run), () -> now);
        both.nanos();
        now += 40 * MS;
        assertEquals(40 * MS, both.nanos());
    }

    @Test
    void what_was_long_ago_says_nothing() {
        busy.nanos();
        now += 300 * MS;
        given.remove().run();
        now += 50 * MS;
        assertEquals(600 * MS, busy.nanos());
        given.remove().run();
        now += 1_000 * MS;
        assertEquals(0, busy.nanos());
    }

    @Test
    void a_loop_that_takes_nothing_more_is_not_late() {
        var gone = new LoopLag(List.<Executor>of(task -> {
            throw new RejectedExecutionException();
        }), () -> now);
        gone.nanos();
        now += 300 * MS;
        assertEquals(0, gone.nanos());
    }
}
