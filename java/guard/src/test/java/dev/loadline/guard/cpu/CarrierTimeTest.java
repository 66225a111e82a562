package dev.loadline.guard.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CarrierTimeTest {
    private static final double TICK = 0.25;

    private final CarrierTime time = new CarrierTime();

    /** Ticks of ten handshakes that compute for 3 ms and a hundred requests that compute for 1 ms. */
    private void ticks(int count, long requestBlocksNanos, double carriersWaitShare) {
        for (int i = 0; i < count; i++) {
            double stretched = 1 + carriersWaitShare;
            for (int n = 0; n < 10; n++) {
                time.handshake((long) (3_000_000 * stretched));
            }
            for (int n = 0; n < 100; n++) {
                time.requests((long) (1_000_000 * stretched) + requestBlocksNanos);
            }
            time.passed(TICK, 130_000_000, (long) (130_000_000 * carriersWaitShare));
        }
    }

    @Test
    void what_only_computes_took_its_wall_time() {
        ticks(20, 0, 0);
        assertEquals(3_000_000, time.handshake(3_000_000), 30_000);
        assertEquals(1_000_000, time.requests(1_000_000), 10_000);
    }

    /** As by requests that ask a database. */
    @Test
    void time_in_which_requests_block_is_not_taken_for_cpu_time_and_handshakes_are_not_taken_for_shorter() {
        ticks(20, 20_000_000, 0);
        assertEquals(3_000_000, time.handshake(3_000_000), 30_000);
        assertEquals(1_000_000, time.requests(21_000_000), 10_000);
    }

    @Test
    void time_in_which_carriers_wait_for_a_cpu_is_not_taken_for_cpu_time() {
        ticks(20, 0, 1);
        assertEquals(3_000_000, time.handshake(6_000_000), 30_000);
        assertEquals(1_000_000, time.requests(2_000_000), 10_000);
    }

    @Test
    void a_request_that_blocks_for_longer_than_many_ticks_changes_little() {
        ticks(40, 0, 0);
        time.requests(1_000_000_000L);
        ticks(1, 0, 0);
        assertEquals(3_000_000, time.handshake(3_000_000), 30_000);
        assertEquals(1_000_000, time.requests(1_000_000), 400_000);
        ticks(60, 0, 0);
        assertEquals(1_000_000, time.requests(1_000_000), 50_000);
    }

    @Test
    void what_all_requests_of_a_tick_took_is_what_carriers_ran_beside_handshakes() {
        ticks(20, 20_000_000, 0);
        assertEquals(100_000_000, tick(100, 20_000_000), 1_000_000);
    }

    /** Of each the estimate is some fifty times what it took. */
    @Test
    void a_pause_that_makes_all_of_them_longer_is_no_cpu_time() {
        ticks(20, 0, 0);
        assertEquals(100_000_000, tick(100, 50_000_000), 1_000_000);
    }

    @Test
    void what_carriers_run_for_others_is_no_requests() {
        assertEquals(0, time.passed(TICK, 200_000_000, 0));
        time.requests(1_000_000);
        assertEquals(1_000_000, time.passed(TICK, 200_000_000, 0));
    }

    /** Ten handshakes of 3 ms and so many requests that compute for 1 ms: what is told of these. */
    private long tick(int count, long requestBlocksNanos) {
        for (int n = 0; n < 10; n++) {
            time.handshake(3_000_000);
        }
        for (int n = 0; n < count; n++) {
            time.requests(1_000_000 + requestBlocksNanos);
        }
        return time.passed(TICK, 30_000_000 + count * 1_000_000L, 0);
    }

    @Test
    void where_nobody_says_what_carriers_ran_wall_time_is_the_bound() {
        time.handshake(1);
        time.passed(TICK, 0, 0);
        assertEquals(3_000_000, time.handshake(3_000_000));
    }
}
