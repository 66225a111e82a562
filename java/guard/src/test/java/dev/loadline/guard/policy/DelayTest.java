package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DelayTest {
    private static final double MS = 1e6;

    private final Delay delay = new Delay(Objective.parse("p95=250ms"));

    /** A second in ticks, of a CPU that is used by so many events; each waited so long for it. */
    private void second(long eventsPerTick, double waitedMs, double turnMs, double cpuMs, double competing) {
        for (int i = 0; i < 4; i++) {
            delay.passed(new Delay.Tick(0.25, 1, (long) (eventsPerTick * cpuMs * MS), eventsPerTick,
                eventsPerTick * (waitedMs + cpuMs) * MS, eventsPerTick * waitedMs * MS, 0, competing), turnMs * MS);
        }
    }

    @Test
    void who_begins_sees_its_turn_and_what_two_events_wait() {
        second(100, 5, 40, 2, 1);
        assertEquals(50 * MS, delay.beginNanos(), 1);
    }

    @Test
    void who_waits_for_a_turn_while_the_cpus_idle_waits_for_no_cpu() {
        assertEquals(0, delay.nanos(0, 500 * MS), 1);
        second(100, 0, 500, 1, 1);
        assertEquals(0, delay.nanos(0, 500 * MS), 1);
        assertEquals(0, delay.beginNanos(), 1);
    }

    @Test
    void who_waits_for_a_turn_while_neighbours_have_the_cpus_does_wait() {
        second(100, 40, 500, 0.7, 1); // 0.28 of a CPU, and 16 that wait for one
        assertEquals(500 * MS, delay.nanos(0, 500 * MS), 1);
    }

    @Test
    void each_event_ahead_takes_what_events_took() {
        for (int i = 0; i < 10; i++) {
            second(100, 0, 0, 1, 1);
        }
        assertEquals(0, delay.nanos(1, 0), 1);
        assertEquals(2 * 9 * MS, delay.nanos(10, 0), 0.2 * MS);
        second(100, 0, 0, 2, 1);
        assertEquals(20 * MS, delay.nanos(0, 20 * MS), 1);
    }

    /** CPU time says 1 ms; but with somebody always waiting 25 events end in 250 ms. */
    @Test
    void whoever_else_uses_the_cpus_is_seen_where_somebody_always_waits() {
        for (int i = 0; i < 10; i++) {
            second(25, 100, 0, 1, 1);
        }
        assertEquals(2 * 9 * 10 * MS, delay.nanos(10, 0), 2 * MS);
    }

    @Test
    void events_that_wait_for_something_else_than_a_cpu_delay_nobody() {
        for (int i = 0; i < 10; i++) {
            second(100, 0, 0, 1, 0.02);
        }
        assertEquals(0, delay.nanos(40, 0), 0.1 * MS);
    }

    @Test
    void a_pause_does_not_last() {
        for (int i = 0; i < 5; i++) {
            second(100, 2, 0, 1, 1);
        }
        delay.passed(new Delay.Tick(0.25, 1, 250_000_000, 10, 0, 10 * 300 * MS, 0, 1), 300 * MS);
        assertEquals(2 * MS, delay.standingNanos(), 1);
        assertEquals(900 * MS, delay.beginNanos(), 1);
        assertEquals(4 * MS, delay.lastingNanos(), 1);
        for (int i = 0; i < 3; i++) {
            second(100, 300, 0, 1, 1);
        }
        assertEquals(300 * MS, delay.standingNanos(), 1);
    }

    /** @return CPUs in effect after ten seconds of this */
    private double inEffect(double cpus, double used, double waiting) {
        for (int i = 0; i < 40; i++) {
            delay.passed(new Delay.Tick(0.25, cpus, (long) (used * 250 * MS), 100, waiting * 250 * MS, waiting * 250 * MS, 0, 1), 0);
        }
        return delay.cpusInEffect();
    }

    @Test
    void cpus_in_effect_are_those_that_others_leave() {
        assertEquals(1, inEffect(1, 0.9, 0), 1e-9, "nobody waits");
        assertEquals(1, inEffect(1, 0.8, 3.2), 1e-6, "as a queue of its own has it");
        assertEquals(0.85, inEffect(2, 0.8, 12), 0.05, "told of two, of which another uses more than one");
        assertEquals(2, inEffect(2, 1.6, 1.5), 0.1);
        assertEquals(0.3, inEffect(1, 0.28, 10), 0.03);
        assertEquals(0.05, inEffect(1, 0, 50), 1e-4, "all of them wait for something else");
    }

    @Test
    void cpus_that_come_and_go_are_in_effect_at_once() {
        inEffect(1, 0.5, 0);
        delay.passed(new Delay.Tick(0.25, 4, 0, 0, 0, 0, 0, 1), 0);
        assertEquals(4, delay.cpusInEffect());
        delay.passed(new Delay.Tick(0.25, 0.5, 0, 0, 0, 0, 0, 1), 0);
        assertEquals(0.5, delay.cpusInEffect());
    }

    @Test
    void the_target_follows_from_the_objective_and_what_service_takes() {
        assertEquals(100 * MS, delay.targetNanos(), 1);
        for (int i = 0; i < 10; i++) {
            second(5, 0, 0, 50, 1);
        }
        assertEquals(80 * MS, delay.targetNanos(), 0.1 * MS);
        for (int i = 0; i < 10; i++) {
            second(1, 0, 0, 5_000, 1);
        }
        assertEquals(50 * MS, delay.targetNanos(), 1, "an objective that cannot be met");
    }

    @Test
    void a_higher_percentile_leaves_less() {
        assertEquals(100 * MS * Math.log(20) / Math.log(100), Objective.parse("p99=250ms").targetNanos(0), 1);
        assertEquals(100 * MS, Objective.parse("p50=250ms").targetNanos(0), 1);
        assertEquals(400 * MS, Objective.parse(" P95 = 1s").targetNanos(0), 1);
    }

    @Test
    void what_is_no_objective_is_refused_with_an_example() {
        for (String wrong : new String[] {"", "250ms", "p95", "p95=", "p5=1s", "p100=1s", "p95=0ms", "p95=2min", "p95=1h"}) {
            String said = assertThrows(IllegalArgumentException.class, () -> Objective.parse(wrong)).getMessage();
            assertTrue(said.contains("p95=250ms"), said);
        }
    }
}
