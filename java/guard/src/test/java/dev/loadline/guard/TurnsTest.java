package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private final AtomicInteger most = new AtomicInteger(1);
    private final Turns turns = new Turns(most::get);
    private final List<String> came = new ArrayList<>();

    private Turns.Turn turn(String name) {
        return turns.turn(() -> came.add(name));
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
        turns.passed();
        assertEquals(List.of("b"), came);
        most.set(Integer.MAX_VALUE);
        turns.passed();
        assertEquals(List.of("b", "c", "d"), came);
    }

    @Test
    void a_turn_that_nobody_gives_back_is_lost_for_some_seconds_only() {
        Turns.Turn lost = turn("lost");
        lost.enter();
        turn("next").enter();
        for (int i = 0; i < Turns.LONGEST_TICKS; i++) {
            turns.passed();
        }
        assertEquals(List.of(), came);
        turns.passed();
        assertEquals(List.of("next"), came);
        lost.over();
        assertEquals(1, turns.computing(), "the next one's is its own");
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
                turn.set(turns.turn(() -> pool.execute(work)));
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
