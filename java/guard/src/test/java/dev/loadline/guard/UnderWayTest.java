package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class UnderWayTest {
    private static final long MILLI = 1_000_000;

    private final UnderWay underWay = new UnderWay();

    @Test
    void time_is_of_those_that_are_over_and_of_those_that_are_not() {
        underWay.begins(10 * MILLI);
        underWay.begins(12 * MILLI);
        underWay.ends(15 * MILLI);
        assertEquals(1, underWay.count());
        assertEquals(5e6 + 8e6, underWay.nanosSinceLast(20 * MILLI)); // 10 to 15 and 12 to 20, or 10 to 20 and 12 to 15
        assertEquals(10e6, underWay.nanosSinceLast(30 * MILLI));
        underWay.ends(31 * MILLI);
        assertEquals(1e6, underWay.nanosSinceLast(40 * MILLI));
        assertEquals(0, underWay.nanosSinceLast(50 * MILLI));
        assertEquals(0, underWay.count());
    }

    @Test
    void an_end_may_be_counted_before_its_begin() {
        underWay.ends(3 * MILLI);
        assertEquals(-1, underWay.count());
        underWay.begins(2 * MILLI);
        assertEquals(0, underWay.count());
        assertEquals(1e6, underWay.nanosSinceLast(4 * MILLI));
    }

    /** System.nanoTime has any origin, and thousands of events for years make more than the bits hold. */
    @Test
    void the_clock_may_be_anywhere_and_the_sum_may_overflow() {
        for (long origin : new long[] {0, -5 * MILLI - 1, Long.MAX_VALUE - 3_000 * MILLI, Long.MIN_VALUE + 5, 1L << 60}) {
            var here = new UnderWay();
            here.nanosSinceLast(origin);
            for (int i = 0; i < 3_000; i++) {
                here.begins(origin + i * MILLI);
            }
            assertEquals(3_000, here.count());
            assertEquals(2_999 * 3_000 / 2 * 1e6, here.nanosSinceLast(origin + 2_999 * MILLI), 3e6);
            for (int i = 0; i < 3_000; i++) {
                here.ends(origin + 2_999 * MILLI);
            }
            assertEquals(0, here.count());
            assertEquals(0, here.nanosSinceLast(origin + 3_000 * MILLI), 3e6);
        }
    }
}
