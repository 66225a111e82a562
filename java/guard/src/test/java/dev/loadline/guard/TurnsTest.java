package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private final AtomicInteger most = new AtomicInteger(1);
    private long nanos;
    private final List<String> told = Collections.synchronizedList(new ArrayList<>());
    private final Turns turns = new Turns(most::get, () -> nanos, new Turns.Told() {
        @Override
        public void waits(long key) {
            told.add("waits " + key);
        }

        @Override
        public void goesOn(long key) {
            told.add("goes on " + key);
        }

        @Override
        public void failed(Throwable e) {
            throw new AssertionError(e);
        }
    });
    private final List<String> came = new ArrayList<>();

    /** A tick ends in which the CPUs were used so far. */
    private void tick(double utilization) {
        nanos += 250_000_000;
        turns.passed(0.25, utilization);
    }

    private Turns.Turn turn(String name) {
        return turns.turn(0, () -> came.add(name));
    }

    @Test
    void they_come_in_their_order_and_one_after_the_other() {
        Turns.Turn a = turn("a");
        Turns.Turn b = turn("b");
        Turns.Turn c = turn("c");
        assertTrue(a.enter());
        assertFalse(b.enter());
        assertFalse(c.enter());
        assertEquals(2, turns.waiting());
        a.over();
        assertEquals(List.of("b"), came);
        a.over();
        assertEquals(List.of("b"), came, "it was over already");
        b.over();
        assertEquals(List.of("b", "c"), came);
        c.over();
        assertEquals(0, turns.computing());
    }

    @Test
    void who_goes_while_it_waits_is_passed_over() {
        Turns.Turn a = turn("a");
        Turns.Turn b = turn("b");
        Turns.Turn c = turn("c");
        a.enter();
        b.enter();
        c.enter();
        b.over();
        a.over();
        assertEquals(List.of("c"), came);
    }

    @Test
    void a_long_queue_ends_when_nobody_takes_what_goes_on() {
        Turns.Turn first = turn("first");
        first.enter();
        AtomicInteger refused = new AtomicInteger();
        for (int i = 0; i < 100_000; i++) {
            AtomicReference<Turns.Turn> own = new AtomicReference<>();
            own.set(turns.turn(0, () -> {
                refused.incrementAndGet();
                own.get().over();
            }));
            own.get().enter();
        }
        first.over();
        assertEquals(100_000, refused.get());
        assertEquals(0, turns.waiting() + turns.computing());
    }

    @Test
    void each_wait_is_told_by_its_begin_and_its_end_however_it_ends() {
        Turns.Turn[] all = new Turns.Turn[3];
        for (int i = 0; i < 3; i++) {
            all[i] = turns.turn(i, () -> { });
            all[i].enter();
        }
        assertEquals(List.of("waits 1", "waits 2"), told);
        all[1].over(); // it is gone
        all[0].over();
        all[2].over();
        assertEquals(List.of("waits 1", "waits 2", "goes on 1", "goes on 2"), told);
    }

    @Test
    void who_goes_before_it_asks_does_not_take_a_turn() {
        Turns.Turn a = turn("a");
        a.over();
        assertTrue(a.enter());
        assertEquals(0, turns.computing());
    }

    @Test
    void when_more_may_compute_those_who_wait_go_on_with_the_next_tick() {
        for (String name : List.of("a", "b", "c", "d")) {
            turn(name).enter();
        }
        most.set(2);
        tick(1);
        assertEquals(List.of("b"), came);
        most.set(Integer.MAX_VALUE);
        tick(1);
        assertEquals(List.of("b", "c", "d"), came);
    }

    @Test
    void a_turn_that_nobody_gives_back_is_lost_for_some_seconds_only() {
        Turns.Turn lost = turn("lost");
        lost.enter();
        turn("next").enter();
        for (int i = 0; i < Turns.LONGEST_TICKS; i++) {
            tick(1);
        }
        assertEquals(List.of(), came);
        tick(1);
        assertEquals(List.of("next"), came);
        lost.over();
        assertEquals(1, turns.computing(), "the next one's is its own");
    }

    /** As where a signature comes from another machine: whose turn it is waits for it, and the CPU has nothing to do. */
    @Test
    void when_cpus_idle_while_others_wait_more_have_their_turn_at_a_time() {
        for (int i = 0; i < 10; i++) {
            turn("t" + i).enter();
        }
        tick(0.1);
        assertEquals(1, turns.computing(), "one tick may be the host's");
        tick(0.1);
        assertEquals(2, turns.computing());
        tick(0.1);
        assertEquals(4, turns.computing());
        tick(0.9);
        tick(0.9);
        assertEquals(4, turns.computing());
    }

    @Test
    void what_was_added_is_taken_back_in_time() {
        List<Turns.Turn> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(turn("t" + i));
            all.get(i).enter();
        }
        tick(0.1);
        tick(0.1);
        assertEquals(2, turns.computing());
        all.forEach(Turns.Turn::over);
        for (int i = 0; i < 60; i++) {
            tick(1);
        }
        turn("one").enter();
        turn("two").enter();
        assertEquals(1, turns.computing());
    }

    @Test
    void to_wait_while_the_cpus_work_says_nothing() {
        for (int i = 0; i < 4; i++) {
            Turns.Turn a = turn("a");
            Turns.Turn b = turn("b");
            a.enter();
            b.enter();
            nanos += 100_000_000;
            a.over();
            b.over();
            tick(0.4);
        }
        turn("c").enter();
        turn("d").enter();
        assertEquals(1, turns.computing());
    }

    @Test
    void of_many_threads_never_more_than_one_computes_and_none_is_forgotten() throws Exception {
        int tasks = 20_000;
        var pool = Executors.newFixedThreadPool(4);
        var done = new CountDownLatch(tasks);
        var inside = new AtomicInteger();
        var highest = new AtomicInteger();
        try {
            for (int i = 0; i < tasks; i++) {
                var turn = new AtomicReference<Turns.Turn>();
                Runnable work = () -> {
                    highest.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    inside.decrementAndGet();
                    turn.get().over();
                    done.countDown();
                };
                turn.set(turns.turn(0, () -> pool.execute(work)));
                pool.execute(() -> {
                    if (turn.get().enter()) {
                        work.run();
                    }
                });
            }
            assertTrue(done.await(30, TimeUnit.SECONDS), done.getCount() + " of " + tasks + " were forgotten");
        } finally {
            pool.shutdownNow();
        }
        assertEquals(1, highest.get());
        assertEquals(0, turns.computing());
    }
}
