package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The closed loop, alone and around a server of which the costs are told wrong. */
class CorrectionTest {
    private static final long MS = 1_000_000;

    /**
     * A server on one CPU, refusing, whose connections cost {@code realMs} at once while the guard believes
     * 10 ms; returns its mean utilization and the mean waiting over the last half minute.
     */
    private static double[] run(double realMs) {
        var costs = new Costs(10 * MS, MS);
        var loop = new Correction(4);
        var admission = new Admission(1, 0.95, costs, 0);
        double backlog = 0;
        double used = 0;
        double waited = 0;
        for (int tick = 0; tick < 720; tick++) {
            double usedNow = 0;
            for (int ms = 0; ms < 250; ms++) {
                long now = (tick * 250L + ms) * MS;
                if (admission.fresh(now, Customer.SILVER,
                        loop.waitingNow((int) Math.ceil(backlog / realMs), 1) / 4) == Verdict.ADMIT) {
                    backlog += realMs;
                }
                double done = Math.min(1, backlog);
                backlog -= done;
                usedNow += done;
            }
            used += tick >= 600 ? usedNow : 0;
            // All in the system wait for one CPU: by Little's law as long per running as there are others.
            double waiting = backlog / realMs;
            waited += tick >= 600 ? waiting : 0;
            loop.passed(0.25, usedNow / 250, waiting, 0, 1, admission.refusing(), admission.byBudget());
            admission.passed((tick + 1) * 250L * MS, 0.25, 1, loop);
        }
        return new double[] {used / 30_000, waited / 120};
    }

    @Test
    void costs_believed_too_high_do_not_starve_the_server() {
        double[] result = run(3);
        assertTrue(result[0] > 0.95, "used " + result[0]);
    }

    @Test
    void costs_believed_too_low_do_not_overload_it() {
        double[] result = run(30);
        assertTrue(result[0] > 0.95, "used " + result[0]);
        assertTrue(result[1] < 10, "waiting " + result[1]);
    }

    @Test
    void of_the_events_under_way_only_those_that_compete_for_a_cpu_count() {
        var loop = new Correction(4);
        assertEquals(9, loop.waitingNow(20, 2), 0.01);
        for (int i = 0; i < 100; i++) {
            loop.passed(0.25, 1, 0, 0, 0.25, false, 1);
        }
        assertEquals(1.5, loop.waitingNow(20, 2), 0.01);
        loop.passed(0.25, 1, 0, 0, Double.NaN, false, 1);
        assertEquals(1.5, loop.waitingNow(20, 2), 0.01);
        assertEquals(0, loop.waitingNow(0, 2));
    }

    @Test
    void cpus_that_others_use_are_not_taken_for_unused() {
        var loop = new Correction(6);
        for (int i = 0; i < 40; i++) {
            loop.passed(0.25, 0.5, 3, 0, 1, true, 1);
        }
        assertTrue(loop.factor() < 1.2, "factor " + loop.factor());
    }

    @Test
    void a_budget_that_keeps_nobody_out_does_not_grow() {
        var loop = new Correction(6);
        for (int i = 0; i < 80; i++) {
            loop.passed(0.25, 0.7, 1, 0, 1, true, 0);
        }
        assertEquals(1, loop.factor());
        for (int i = 0; i < 80; i++) {
            loop.passed(0.25, 0.7, 1, 0, 1, true, 1);
        }
        assertTrue(loop.factor() > 1.5, "factor " + loop.factor());
    }

    @Test
    void what_a_pause_leaves_behind_teaches_nothing() {
        var loop = new Correction(6);
        loop.passed(0.25, 1, 100, 0, 1, true, 0);
        for (int i = 0; i < 12; i++) {
            loop.passed(0.25, 0.97, 2, 0, 1, true, 0);
        }
        assertEquals(1, loop.factor());
        for (int i = 0; i < 20; i++) {
            loop.passed(0.25, 1, 100, 0, 1, true, 0);
        }
        assertTrue(loop.factor() < 0.9, "waiting that lasts does: factor " + loop.factor());
    }

    @Test
    void who_waits_for_a_turn_keeps_nobody_from_a_cpu() {
        var loop = new Correction(6);
        for (int i = 0; i < 20; i++) {
            loop.passed(0.25, 1, 100, 97, 1, true, 0);
        }
        assertEquals(100, loop.lastingWaiting());
        assertEquals(3, loop.lastingContention());
        assertEquals(3, loop.contention(), 0.1);
    }

    @Test
    void a_host_that_takes_the_cpu_away_every_second_teaches_nothing() {
        var loop = new Correction(6);
        for (int i = 0; i < 160; i++) {
            loop.passed(0.25, 0.97, i % 4 == 0 ? 100 : 4, 0, 1, i >= 80, 1);
        }
        assertEquals(1, loop.factor(), 0.001);
        for (int i = 0; i < 80; i++) {
            loop.passed(0.25, 0.8, i % 4 == 0 ? 100 : 2, 0, 1, true, 1);
        }
        assertTrue(loop.factor() > 1.5, "idle CPUs are given to those who are refused: factor " + loop.factor());
    }

    @Test
    void without_refusing_nothing_is_learnt_about_the_budget() {
        var loop = new Correction(4);
        for (int i = 0; i < 1_000; i++) {
            loop.passed(0.25, 0.1, 0, 0, 1, false, 1);
        }
        assertEquals(1, loop.factor());
    }
}
