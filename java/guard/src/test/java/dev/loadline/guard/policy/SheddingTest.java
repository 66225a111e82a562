package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SheddingTest {
    private static int shedOf100(Shedding shedding, Priority priority) {
        int shed = 0;
        for (int i = 0; i < 100; i++) {
            shed += shedding.sheds(priority) ? 1 : 0;
        }
        return shed;
    }

    @Test
    void nothing_is_shed_while_somebody_is_still_admitted() {
        var shedding = new Shedding();
        for (int i = 0; i < 100; i++) {
            shedding.passed(0.25, false, 20);
        }
        assertEquals(0, shedding.level());
    }

    @Test
    void the_lowest_priority_goes_first_and_the_highest_last() {
        var shedding = new Shedding();
        double last = 0;
        while (shedding.level() < 0.5) {
            shedding.passed(0.25, true, 4);
            assertTrue(shedding.level() > last);
            last = shedding.level();
        }
        assertEquals(100 * shedding.level(), shedOf100(shedding, Priority.LOW), 1);
        assertEquals(0, shedOf100(shedding, Priority.NORMAL));
        while (shedding.level() < 1.5) {
            shedding.passed(0.25, true, 4);
        }
        assertEquals(100, shedOf100(shedding, Priority.LOW));
        assertEquals(100 * (shedding.level() - 1), shedOf100(shedding, Priority.NORMAL), 1);
        assertFalse(shedding.sheds(Priority.HIGH));
    }

    @Test
    void it_ends_when_the_threads_wait_no_more() {
        var shedding = new Shedding();
        for (int i = 0; i < 100; i++) {
            shedding.passed(0.25, true, 10);
        }
        assertEquals(3, shedding.level());
        for (int i = 0; i < 100; i++) {
            shedding.passed(0.25, true, 1);
        }
        assertEquals(0, shedding.level());
    }

    @Test
    void a_better_customer_counts_a_step_more() {
        assertEquals(Priority.HIGH, Priority.NORMAL.of(Customer.GOLD));
        assertEquals(Priority.NORMAL, Priority.NORMAL.of(Customer.SILVER));
        assertEquals(Priority.LOW, Priority.NORMAL.of(Customer.BRONZE));
        assertEquals(Priority.HIGH, Priority.HIGH.of(Customer.GOLD));
    }
}
