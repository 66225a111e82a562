package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Places.Lane;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** On a pool whose threads are this one: each task that it is given is a thread which has not run yet. */
class WorkersTest {
    private final Queue<Runnable> pool = new ArrayDeque<>();
    private final List<String> ran = new ArrayList<>();
    private final List<String> rejected = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private boolean mayLimit = true;
    private RuntimeException full;
    private long now;
    private final Workers workers = new Workers(this::give, () -> mayLimit, () -> now, failures::add);

    private void give(Runnable task) {
        if (full != null) {
            throw full;
        }
        pool.add(task);
    }

    private final class Named implements Workers.Event {
        private final String name;
        private final Runnable work;

        Named(String name, Runnable work) {
            this.name = name;
            this.work = work;
        }

        @Override
        public void run() {
            ran.add(name);
            work.run();
        }

        @Override
        public void rejected() {
            rejected.add(name);
        }
    }

    private void come(String... names) {
        for (String name : names) {
            workers.execute(Lane.UNDER_WAY, new Named(name, () -> { }));
        }
    }

    /** So many places, all for events that compete. */
    private void limit(int places) {
        for (int i = 0; i < 10; i++) {
            workers.passed(new Delay.Tick(0.25, places / 4.0, (long) (places / 4.0 * 0.25e9), 100, 100 * 0.25e9, 0, 0, 1), 75e6);
        }
        assertEquals(places, workers.limit());
        assertTrue(workers.limited());
    }

    @Test
    void who_ends_takes_the_next_one_on_its_thread() {
        limit(1);
        come("a", "b", "c");
        assertEquals(1, pool.size());
        pool.remove().run();
        assertEquals(List.of("a", "b", "c"), ran);
        assertTrue(pool.isEmpty());
    }

    @Test
    void after_many_events_the_pool_has_its_thread_back() {
        limit(1);
        for (int i = 0; i < 70; i++) {
            come("e" + i);
        }
        pool.remove().run();
        assertEquals(64, ran.size());
        assertEquals(1, pool.size());
        pool.remove().run();
        assertEquals(70, ran.size());
    }

    @Test
    void when_there_may_be_no_limit_all_begin_at_once() {
        limit(1);
        come("a", "b", "c");
        mayLimit = false;
        workers.look();
        assertEquals(3, pool.size());
        assertFalse(workers.limited());
    }

    @Test
    void who_comes_when_there_may_be_no_limit_any_more_begins_and_so_do_all_others() {
        limit(1);
        come("a", "b");
        mayLimit = false;
        come("c");
        assertEquals(3, pool.size());
    }

    @Test
    void an_event_that_throws_gives_its_place_on() {
        limit(1);
        workers.execute(Lane.UNDER_WAY, new Named("a", () -> {
            throw new StackOverflowError();
        }));
        come("b");
        assertThrows(StackOverflowError.class, pool.remove()::run);
        pool.remove().run();
        assertEquals(List.of("a", "b"), ran);
    }

    @Test
    void a_pool_that_takes_nothing_more_leaves_nobody_waiting() {
        limit(1);
        come("a", "b");
        full = new RejectedExecutionException();
        mayLimit = false;
        come("c");
        assertEquals(List.of("b", "c"), rejected);
        assertTrue(failures.isEmpty());
        full = new IllegalStateException("no thread");
        come("d");
        assertEquals(List.of("b", "c", "d"), rejected);
        assertEquals(List.of(full), failures);
    }

    @Test
    void a_thread_that_is_interrupted_goes_back_to_its_pool() {
        limit(1);
        workers.execute(Lane.UNDER_WAY, new Named("a", Thread.currentThread()::interrupt));
        come("b");
        pool.remove().run();
        assertTrue(Thread.interrupted());
        assertEquals(List.of("a"), ran);
        pool.remove().run();
        assertEquals(List.of("a", "b"), ran);
    }
}
