package dev.loadline.guard.abuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.abuse.Probes.Slot;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class ProbesTest {
    private static final long SECOND = 1_000_000_000L;
    private static final double SHARE = 0.05;
    /** A full handshake and a small request, RSA-2048. */
    private static final double COST = 5e6;

    private final Probes probes = new Probes(SHARE);
    private long now = 7 * SECOND;

    private static InetAddress address(int n) {
        try {
            return InetAddress.getByAddress(new byte[] {10, (byte) (n >> 16), (byte) (n >> 8), (byte) n});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private Slot slot(int address) {
        return probes.slot(address(address), null, COST, 1, true, now);
    }

    @Test
    void probers_known_from_before_pass_each_time_among_a_crowd_that_would_try() {
        int probers = 25;
        for (int i = 0; i < probers; i++) {
            probes.probed(address(i), null, now);
        }
        int passed = 0;
        for (int ms = 0; ms < 60_000; ms++) {
            now += SECOND / 1000;
            if (ms % 200 == 0) { // each once in five seconds
                passed += slot(ms / 200 % probers) == Slot.PROBER ? 1 : 0;
            }
            slot(1_000 + ms); // a thousand new addresses a second
        }
        assertEquals(300, passed);
    }

    @Test
    void a_crowd_that_tries_gets_a_hundredth_of_the_cpus() {
        double given = 0;
        for (int ms = 0; ms < 60_000; ms++) {
            now += SECOND / 1000;
            given += slot(ms) == Slot.TRY ? COST : 0;
        }
        assertEquals(Probes.TRIES * SHARE, given / (60 * SECOND), 0.001);
    }

    @Test
    void a_crowd_that_asks_for_nothing_but_health_gets_a_twentieth_of_the_cpus() {
        for (int i = 0; i < 1_000; i++) {
            probes.probed(address(i), null, now);
        }
        double given = 0;
        for (int ms = 0; ms < 60_000; ms++) {
            now += SECOND / 1000;
            if (slot(ms % 1_000) != Slot.NONE) {
                given += COST;
                probes.spent((long) COST / 10);
                given += COST / 10;
            }
        }
        assertEquals(SHARE, given / (60 * SECOND), 0.002);
    }

    @Test
    void an_address_that_asks_for_something_else_has_ever_fewer_tries() {
        int tries = 0;
        for (int s = 0; s < 24 * 3_600; s++) {
            now += SECOND;
            if (slot(1) == Slot.TRY) {
                tries++;
                probes.askedElse(address(1), null, now);
            }
        }
        assertTrue(tries >= 8 && tries <= 15, tries + " tries in a day");
    }

    @Test
    void a_prober_has_a_few_connections_a_second_and_no_more() {
        probes.probed(address(1), null, now);
        int given = 0;
        for (int i = 0; i < 1_000; i++) {
            now += SECOND / 100;
            given += probes.slot(address(1), null, 1, 1, true, now) == Slot.PROBER ? 1 : 0;
        }
        assertEquals(Probes.PER_SECOND * 11, given, 1); // ten seconds, and one second's worth to begin with
    }

    @Test
    void a_prober_that_asks_for_something_else_is_none_for_a_while() {
        probes.probed(address(1), null, now);
        assertEquals(Slot.PROBER, slot(1));
        probes.askedElse(address(1), null, now);
        assertEquals(Slot.NONE, slot(1));
        now += 61 * SECOND;
        assertEquals(Slot.TRY, slot(1));
        probes.probed(address(1), null, now);
        assertEquals(Slot.PROBER, slot(1));
    }

    @Test
    void clients_behind_the_proxy_that_probes_are_told_from_it_by_the_name_that_they_ask_for() {
        probes.probed(address(1), null, now);
        assertEquals(Slot.NONE, probes.slot(address(1), "shop.example", COST, 1, false, now));
        assertEquals(Slot.PROBER, slot(1));
    }

    @Test
    void who_has_not_probed_for_an_hour_is_forgotten() {
        probes.probed(address(1), null, now);
        now += (Probes.REMEMBERED_SECONDS + 1) * SECOND;
        assertEquals(Slot.NONE, probes.slot(address(1), null, COST, 1, false, now));
    }

    @Test
    void without_a_share_nobody_has_a_slot() {
        var none = new Probes(0);
        none.probed(address(1), null, now);
        assertEquals(Slot.NONE, none.slot(address(1), null, COST, 1, true, now));
    }
}
