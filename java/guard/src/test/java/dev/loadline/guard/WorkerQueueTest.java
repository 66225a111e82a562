package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WorkerQueueTest {
    private final WorkerQueue queue = new WorkerQueue();

    @Test
    void without_a_server_that_says_nobody_waits() {
        queue.left(false);
        assertEquals(0, queue.now());
        assertEquals(0, queue.passed());
    }

    @Test
    void who_waits_counts_as_far_as_it_will_be_served() {
        queue.length(() -> 100);
        assertEquals(100, queue.now(), "before anything is known");
        for (int i = 0; i < 50; i++) {
            queue.left(false);
            if (i % 5 == 0) {
                queue.served();
            }
        }
        assertEquals(20, queue.passed(), 1e-9);
        assertEquals(20, queue.now());
    }

    /** Two hundred a second, who wait for an event loop for as long as the test says. */
    @Test
    void on_event_loops_as_many_wait_as_come_meanwhile() {
        var now = new AtomicLong();
        queue.loops(new LoopLag(List.<Executor>of(task -> { }), now::get));
        for (int i = 0; i < 50; i++) {
            queue.left(false);
            queue.served();
        }
        queue.passed();
        now.set(50_000_000);
        assertEquals(20, queue.now());
    }

    @Test
    void a_tick_without_anybody_says_what_waits_at_its_end() {
        queue.length(() -> 7);
        assertEquals(7, queue.passed());
    }
}
