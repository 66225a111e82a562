package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CostsTest {
    private static final long MS = 1_000_000;

    private static Costs learn(Costs costs, int seconds, long handshake, long requestsPerConnection, double overhead) {
        for (int i = 0; i < seconds; i++) {
            for (int c = 0; c < 50; c++) {
                costs.handshake(Outcome.FULL, handshake);
                costs.requests(Outcome.FULL, requestsPerConnection);
                costs.handshake(Outcome.RESUMED, handshake / 4);
                costs.requests(Outcome.RESUMED, requestsPerConnection);
            }
            long attributed = 50 * (handshake + handshake / 4 + 2 * requestsPerConnection);
            costs.passed(1, attributed, (long) (attributed * overhead), 1);
        }
        return costs;
    }

    @Test
    void a_life_is_learnt_as_handshake_and_requests() {
        Costs costs = learn(new Costs(0, 0), 60, 4 * MS, 3 * MS, 1);
        assertEquals(7 * MS, costs.fullCpuNanos(), 0.1 * MS);
        assertEquals(4 * MS, costs.resumedCpuNanos(), 0.1 * MS);
        assertEquals(6_000, costs.learnt());
    }

    @Test
    void what_the_whole_process_spends_is_shared_by_the_connections() {
        Costs costs = learn(new Costs(0, 0), 60, 4 * MS, 3 * MS, 1.5);
        assertEquals(10.5 * MS, costs.fullCpuNanos(), 0.3 * MS);
    }

    @Test
    void a_failed_handshake_costs_what_went_into_reading_and_closing_besides() {
        Costs costs = new Costs(0, 0);
        for (int i = 0; i < 60; i++) {
            for (int c = 0; c < 500; c++) {
                costs.handshake(Outcome.FAILED, MS / 10);
                costs.requests(Outcome.FAILED, MS / 5);
            }
            costs.passed(1, 150 * MS, 150 * MS, 1);
        }
        assertEquals(0.3 * MS, costs.failedCpuNanos(), 0.01 * MS);
    }

    @Test
    void a_change_is_followed_within_some_memory() {
        Costs costs = learn(new Costs(0, 0), 60, 4 * MS, 3 * MS, 1);
        learn(costs, 180, 8 * MS, 6 * MS, 1);
        assertEquals(14 * MS, costs.fullCpuNanos(), MS);
    }

    @Test
    void one_outlier_does_not_change_the_picture() {
        Costs costs = learn(new Costs(0, 0), 60, 4 * MS, 3 * MS, 1);
        costs.handshake(Outcome.FULL, 60_000 * MS);
        assertEquals(7 * MS, costs.fullCpuNanos(), 0.2 * MS);
    }

    @Test
    void what_is_configured_is_not_learnt() {
        Costs costs = learn(new Costs(20 * MS, 5 * MS), 60, 4 * MS, 3 * MS, 1);
        assertEquals(20 * MS, costs.fullCpuNanos());
        assertEquals(5 * MS, costs.resumedCpuNanos());
    }

    @Test
    void before_anything_is_learnt_a_resumed_connection_costs_less_than_a_new_one() {
        var costs = new Costs(0, 0);
        assertTrue(costs.resumedCpuNanos() < costs.fullCpuNanos());
        assertTrue(costs.resumedCpuNanos() > 0);
    }
}
