package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CpuDemandTest {
    private static final double TICK = 0.25;

    private final CpuDemand demand = new CpuDemand();

    private double after(int seconds, double offered, long learnt, double used, double waited) {
        double asked = 0;
        for (int i = 0; i < seconds / TICK; i++) {
            asked = demand.passed(TICK, offered, learnt, used, waited);
        }
        return asked;
    }

    @Test
    void a_server_that_sheds_load_asks_for_what_is_offered_and_not_for_what_it_uses() {
        assertEquals(3 * CpuDemand.HEADROOM, after(20, 3, 100, 0.5, 4), 0.06);
    }

    @Test
    void work_without_connections_counts() {
        assertEquals(1.6 * CpuDemand.HEADROOM, after(20, 0.1, 100, 1.6, 0), 0.06);
    }

    @Test
    void before_costs_are_learnt_use_and_wait_count() {
        assertEquals(2 * CpuDemand.HEADROOM, after(20, 40, 0, 0.5, 1.5), 0.06);
    }

    @Test
    void a_crowd_is_asked_for_at_once_and_forgotten_within_seconds() {
        after(20, 0.2, 100, 0.2, 0);
        assertTrue(demand.passed(TICK, 2, 100, 0.3, 0) >= 2 * CpuDemand.HEADROOM);
        assertEquals(1.5 * CpuDemand.HEADROOM, after(20, 0.2, 100, 1.5, 0), 0.06, "its sessions go on");
        assertTrue(after(2, 0.2, 100, 0.2, 0) > 0.6, "a pause is no end");
        assertEquals(0.2 * CpuDemand.HEADROOM, after(8, 0.2, 100, 0.2, 0), 0.11);
    }

    @Test
    void nothing_is_asked_for_by_who_has_nothing_to_do() {
        assertEquals(0, after(5, 0, 0, 0, 0));
    }
}
