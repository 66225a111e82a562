package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CostsTest {
    private static final long MS = 1_000_000;

    private final Costs costs = new Costs(0, 0);

    /** Seconds of 10 new sessions and 10 that come back, each of which resumes twice more and asks for 4 ms. */
    private void seconds(int n, double scale, double overhead) {
        for (int i = 0; i < n; i++) {
            long reported = 0;
            for (int s = 0; s < 10; s++) {
                costs.handshake(Outcome.FULL, true, 1, (long) (6 * MS * scale));
                costs.handshake(Outcome.RESUMED, true, 1, (long) (2 * MS * scale));
                reported += (long) (8 * MS * scale);
                for (int r = 0; r < 4; r++) {
                    costs.handshake(Outcome.RESUMED, false, 1, (long) (2 * MS * scale));
                }
                reported += (long) (4 * 2 * MS * scale + 2 * 4 * MS * scale);
            }
            costs.passed(1, reported, reported, (long) (reported * overhead), 0.2);
        }
    }

    @Test
    void a_session_costs_its_handshake_and_what_follows() {
        seconds(60, 1, 1);
        assertEquals(14 * MS, costs.sessionCpuNanos(Outcome.FULL), 0.3 * MS);
        assertEquals(10 * MS, costs.sessionCpuNanos(Outcome.RESUMED), 0.3 * MS);
        assertEquals(6 * MS, costs.handshakeCpuNanos(Outcome.FULL), 0.1 * MS);
        assertEquals(60 * 60, costs.learnt());
    }

    @Test
    void the_share_of_collector_and_compiler_counts() {
        seconds(60, 1, 1.5);
        assertEquals(21 * MS, costs.sessionCpuNanos(Outcome.FULL), 0.5 * MS);
    }

    /** Two guards of one server: neither takes what the other one was told of for its own. */
    @Test
    void what_another_guard_was_told_of_is_no_overhead() {
        for (int i = 0; i < 60; i++) {
            for (int s = 0; s < 10; s++) {
                costs.handshake(Outcome.FULL, true, 1, 10 * MS);
            }
            costs.passed(1, 100 * MS, 200 * MS, 240 * MS, 0.2);
        }
        assertEquals(12 * MS, costs.sessionCpuNanos(Outcome.FULL), 0.3 * MS);
    }

    @Test
    void when_work_gets_cheaper_costs_follow_within_two_minutes() {
        seconds(60, 1, 1);
        seconds(120, 0.5, 1);
        assertEquals(7 * MS, costs.sessionCpuNanos(Outcome.FULL), 0.3 * MS);
    }

    @Test
    void one_outlier_does_not_close_the_site() {
        seconds(60, 1, 1);
        costs.handshake(Outcome.FULL, true, 1, 3_600_000L * MS);
        assertTrue(costs.handshakeCpuNanos(Outcome.FULL) < 8 * MS);
    }

    @Test
    void forged_claims_do_not_count_as_sessions() {
        seconds(60, 1, 1);
        for (int i = 0; i < 100_000; i++) {
            costs.handshake(Outcome.FAILED, true, 1, MS / 10);
        }
        costs.passed(0.25, 100_000 * (MS / 10), 100_000 * (MS / 10), 100_000 * (MS / 10), 100);
        assertEquals(14 * MS, costs.sessionCpuNanos(Outcome.FULL), 0.5 * MS);
        assertEquals(MS / 10.0, costs.sessionCpuNanos(Outcome.FAILED), MS / 100.0);
    }

    @Test
    void what_is_set_is_not_learnt() {
        var fixed = new Costs(5 * MS, MS);
        fixed.handshake(Outcome.FULL, true, 1, 100 * MS);
        assertEquals(5 * MS, fixed.sessionCpuNanos(Outcome.FULL));
        assertEquals(MS, fixed.sessionCpuNanos(Outcome.RESUMED));
    }

    @Test
    void before_anything_is_learnt_there_is_a_guess() {
        assertEquals(12 * MS, costs.sessionCpuNanos(Outcome.FULL));
        assertEquals(6.5 * MS, costs.sessionCpuNanos(Outcome.RESUMED));
    }

    @Test
    void some_that_stand_for_others_teach_the_same_as_all() {
        var some = new Costs(0, 0);
        for (int second = 0; second < 300; second++) {
            long reported = 0;
            for (int i = 0; i < 40; i++) {
                int standsFor = i % 4 == 0 ? 4 : 0;
                costs.handshake(Outcome.FULL, true, 1, 6 * MS);
                some.handshake(Outcome.FULL, true, standsFor, 6 * MS);
                reported += 6 * MS + 3 * MS;
            }
            costs.passed(1, reported, reported, reported, 1);
            some.passed(1, reported, reported, reported, 1);
        }
        assertEquals(costs.sessionCpuNanos(Outcome.FULL), some.sessionCpuNanos(Outcome.FULL), 0.01 * MS);
        assertEquals(9.0 * MS, some.sessionCpuNanos(Outcome.FULL), 0.1 * MS);
    }
}
