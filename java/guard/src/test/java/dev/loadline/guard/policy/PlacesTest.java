package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.policy.Places.Lane;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlacesTest {
    private static final double TICK_S = 0.25;
    private static final double TARGET_NANOS = 75e6;

    private final Places<Integer> places = new Places<>();
    private long now = 1_000_000_000L;

    /** @param underWay on average @param competing of those, NaN: not measured @param used of the CPUs */
    private void tick(double cpus, double underWay, double competing, double used) {
        now += 250_000_000;
        places.passed(now, new Delay.Tick(TICK_S, cpus, (long) (used * cpus * TICK_S * 1e9), 100, underWay * TICK_S * 1e9, 0, 0, competing / underWay), TARGET_NANOS);
    }

    /** One CPU, and so many places as are for events that all compete. */
    private void shortOfCpus() {
        while (places.limit() != Places.COMPETING) {
            tick(1, 100, 100, 1);
        }
    }

    private int begin() {
        int begun = 0;
        while (places.next() != null) {
            begun++;
        }
        return begun;
    }

    private void add(int many) {
        for (int i = 0; i < many; i++) {
            places.add(i, Lane.UNDER_WAY, now);
        }
    }

    @Test
    void without_a_shortage_of_cpus_all_begin() {
        tick(2, 7, 7, 1);
        add(1_000);
        assertEquals(1_000, begin());
    }

    @Test
    void events_that_compete_come_down_to_a_few_for_each_cpu_and_not_at_once() {
        tick(2, 100, 100, 1);
        assertEquals(50, places.limit());
        for (int i = 0; i < 4; i++) {
            tick(2, 100, 100, 1);
        }
        assertEquals(2 * Places.COMPETING, places.limit());
    }

    @Test
    void blocked_events_take_no_places_from_those_that_compete() {
        for (int i = 0; i < 10; i++) {
            tick(1, 80, 35, 1);
        }
        // And four times the square root of 45, for when more are blocked than on average.
        assertEquals(45 + 27 + Places.COMPETING, places.limit());
    }

    @Test
    void who_waits_begins_when_another_has_ended() {
        shortOfCpus();
        add(10);
        assertEquals(Places.COMPETING, begin());
        places.ended(now);
        assertEquals(1, begin());
        assertEquals(10 - Places.COMPETING - 1, places.waiting());
    }

    @Test
    void when_nothing_ends_there_are_twice_as_many_places() {
        shortOfCpus();
        add(100);
        assertEquals(Places.COMPETING, begin());
        places.ended(now);
        assertEquals(1, begin());
        now += Places.STALL_NANOS;
        places.add(0, Lane.UNDER_WAY, now);
        assertEquals(0, begin(), "not yet");
        now += 1;
        places.add(0, Lane.UNDER_WAY, now);
        assertEquals(Places.COMPETING, begin());
        places.add(0, Lane.UNDER_WAY, now + 1);
        assertEquals(0, begin(), "once in that time");
    }

    @Test
    void where_nobody_comes_a_tick_finds_that_nothing_ends() {
        shortOfCpus();
        add(100);
        begin();
        tick(1, 100, 100, 1);
        assertEquals(Places.COMPETING, begin());
    }

    @Test
    void while_nobody_waits_it_is_no_matter_that_nothing_ends() {
        shortOfCpus();
        add(Places.COMPETING);
        begin();
        tick(1, 100, 100, 1);
        assertEquals(Places.COMPETING, places.limit());
    }

    @Test
    void a_tick_in_which_a_part_of_the_cpus_was_not_used_doubles_the_places() {
        shortOfCpus();
        tick(1, 100, 100, 0.85);
        assertEquals(2 * Places.COMPETING, places.limit());
    }

    @Test
    void when_nothing_is_measured_any_more_all_begin() {
        shortOfCpus();
        add(100);
        begin();
        tick(1, 100, Double.NaN, 1);
        assertFalse(places.limited());
        assertEquals(100 - Places.COMPETING, begin());
    }

    @Test
    void a_full_handshake_lets_those_pass_who_come_in_a_while_and_no_others() {
        shortOfCpus();
        places.add(1, Lane.FULL_HANDSHAKE, now);
        places.add(2, Lane.UNDER_WAY, now + (long) (0.3 * TARGET_NANOS) - 1);
        places.add(3, Lane.UNDER_WAY, now + (long) (0.3 * TARGET_NANOS) + 1);
        assertEquals(2, places.next());
        assertEquals(1, places.next());
        assertEquals(3, places.next());
        assertNull(places.next());
    }

    @Test
    void each_event_begins_once_however_the_limit_changes() {
        var random = new Random(3);
        Set<Integer> begun = new HashSet<>();
        int added = 0;
        int atWork = 0;
        for (int step = 0; step < 20_000; step++) {
            now += random.nextInt(2_000_000);
            switch (random.nextInt(10)) {
                case 0 -> tick(1 + random.nextInt(4), 1 + random.nextInt(200), random.nextDouble() * 150, random.nextDouble());
                case 1, 2, 3, 4 -> places.add(added++, Lane.values()[random.nextInt(2)], now);
                default -> {
                    if (atWork > 0) {
                        atWork--;
                        places.ended(now);
                    }
                }
            }
            int most = Math.max(atWork, places.limit());
            for (Integer event = places.next(); event != null; event = places.next()) {
                assertTrue(begun.add(event), "twice");
                atWork++;
            }
            assertTrue(atWork <= most, "more than there are places");
        }
        places.open();
        for (Integer event = places.next(); event != null; event = places.next()) {
            assertTrue(begun.add(event), "twice");
        }
        assertEquals(added, begun.size());
    }
}
