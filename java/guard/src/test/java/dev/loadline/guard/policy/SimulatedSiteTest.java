package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.policy.SimulatedSite.Seen;
import dev.loadline.guard.policy.SimulatedSite.Setting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole control, on CPUs of different speed, against what its user wants: docs/internals/guard.md. */
class SimulatedSiteTest {
    private static final double SECONDS = 40;
    /** Sessions per second of the load line, on a CPU of speed one. */
    private static final double LINE = 155;

    private static Setting guarded(double load, double speed) {
        return Setting.of(true, load * LINE * speed, SECONDS).speed(speed);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1, 3})
    void what_can_be_served_within_the_objective_is_not_refused(double speed) {
        for (double load : new double[] {0.9, 1}) {
            Seen seen = guarded(load, speed).run();
            assertEquals(0, seen.refusedToBegin() + seen.refusedUnderWay(), () -> load + " times the load line: " + seen);
        }
        // Nine tenths of the CPU: after the full collection a few may be.
        Seen seen = guarded(1.1, speed).run();
        assertTrue(seen.refusedToBegin() < 0.005 * 1.1 * LINE * speed * SECONDS, seen::toString);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1, 3})
    void goodput_is_held_under_any_overload_within_the_objective(double speed) {
        double peak = 0;
        for (double load : new double[] {1.1, 1.2}) {
            peak = Math.max(peak, Setting.of(false, load * LINE * speed, SECONDS).speed(speed).run().good());
        }
        Seen unguarded = Setting.of(false, 2 * LINE * speed, SECONDS).speed(speed).run();
        assertTrue(unguarded.good() < 0.1 * peak, "without a guard it falls: " + unguarded);
        for (double load : new double[] {1.25, 1.5, 2, 5}) {
            Seen seen = guarded(load, speed).run();
            String what = load + " times the load line: " + seen + ", peak " + peak;
            assertTrue(seen.good() >= 0.97 * peak, what);
            assertTrue(seen.p95Ms() <= 250, what);
            assertEquals(0, seen.refusedUnderWay(), what);
        }
    }

    @Test
    void a_host_that_takes_the_cpu_away_now_and_then_does_not_make_the_server_idle() {
        for (double load : new double[] {1.5, 2, 5}) {
            Seen seen = guarded(load, 1).unsteadyHost().run();
            assertTrue(seen.utilization() >= 0.97 && seen.p95Ms() <= 250, load + " times the load line: " + seen);
            assertEquals(0, seen.refusedUnderWay(), seen::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1, 3})
    void a_crowd_that_comes_at_once_breaks_no_session(double speed) {
        double line = LINE * speed;
        Seen seen = guarded(1, speed).rate(at -> at < SimulatedSite.LEAD_S + SECONDS / 2 ? 0.5 * line : 4 * line).run();
        assertTrue(seen.refusedToBegin() > 0, seen::toString);
        assertEquals(0, seen.refusedUnderWay(), seen::toString);
        assertTrue(seen.p95Ms() <= 250, seen::toString);
    }

    @Test
    void after_a_crowd_nobody_is_refused() {
        Seen seen = guarded(1, 1).rate(at -> at < SimulatedSite.LEAD_S - 8 ? 5 * LINE : 0.7 * LINE).run();
        assertEquals(0, seen.refusedToBegin() + seen.refusedUnderWay(), seen::toString);
    }

    @Test
    void a_collection_of_a_quarter_of_a_second_breaks_no_session_and_at_the_load_line_refuses_nobody() {
        for (double load : new double[] {1, 1.5, 3}) {
            Seen seen = guarded(load, 1).collection(0.25).run();
            assertEquals(0, seen.refusedUnderWay() + (load == 1 ? seen.refusedToBegin() : 0), load + ": " + seen);
        }
    }

    @Test
    void when_the_cpus_change_delay_stays_bounded() {
        Seen seen = guarded(1.5, 1).cpus(at -> (int) (at / 10) % 2 == 0 ? 1 : 0.5).run();
        assertEquals(0, seen.refusedUnderWay(), seen::toString);
        assertTrue(seen.p95Ms() < 1_000 && seen.good() > 0.6 * seen.replies(), seen::toString);
    }

    @Test
    void a_shorter_objective_makes_shorter_delays() {
        double last = Double.MAX_VALUE;
        for (String objective : new String[] {"p95=500ms", "p95=100ms", "p95=50ms"}) {
            Seen seen = guarded(2, 1).objective(objective).run();
            assertTrue(seen.p95Ms() < last, objective + ": " + seen);
            assertTrue(seen.p95Ms() < Objective.parse(objective).nanos() / 1e6, objective + ": " + seen);
            last = seen.p95Ms();
        }
    }
}
