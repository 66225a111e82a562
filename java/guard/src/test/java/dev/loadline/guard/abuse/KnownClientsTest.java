package dev.loadline.guard.abuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KnownClientsTest {
    private static final long SECOND = 1_000_000_000L;

    private final KnownClients known = new KnownClients();

    private static InetAddress address(int n) throws UnknownHostException {
        return InetAddress.getByAddress(new byte[] {10, (byte) (n >> 16), (byte) (n >> 8), (byte) n});
    }

    @Test
    void who_was_served_is_known_for_a_minute_and_forgotten_after_two() throws UnknownHostException {
        known.add(address(1), 5 * SECOND);
        assertTrue(known.contains(address(1), 6 * SECOND));
        assertTrue(known.contains(address(1), 65 * SECOND));
        assertFalse(known.contains(address(1), 121 * SECOND));
        assertFalse(known.contains(address(2), 6 * SECOND));
    }

    @Test
    void ten_thousand_are_kept_apart() throws UnknownHostException {
        for (int i = 0; i < 10_000; i++) {
            known.add(address(i), SECOND);
        }
        int kept = 0;
        int mistaken = 0;
        for (int i = 0; i < 10_000; i++) {
            kept += known.contains(address(i), 2 * SECOND) ? 1 : 0;
            mistaken += known.contains(address(100_000 + i), 2 * SECOND) ? 1 : 0;
        }
        assertTrue(kept > 9_990, "kept " + kept);
        assertTrue(mistaken == 0, "mistaken " + mistaken);
    }

    /** New addresses a second on one CPU, whose sessions' second connections come after three quarters of a minute. */
    @ParameterizedTest
    @ValueSource(ints = {350, 1_000})
    void sessions_under_way_are_known_at_any_rate_that_a_cpu_can_serve(int perSecond) throws UnknownHostException {
        var of = new KnownClients(1, 512 << 20);
        int forgotten = 0;
        for (int second = 0; second < 300; second++) {
            for (int i = 0; i < perSecond; i++) {
                of.add(address(second * perSecond + i), second * SECOND);
                if (second >= 45 && !of.contains(address((second - 45) * perSecond + i), second * SECOND)) {
                    forgotten++;
                }
            }
        }
        assertTrue(forgotten < 0.002 * 255 * perSecond, "forgotten " + forgotten + " of " + 255 * perSecond);
    }

    @Test
    void the_table_grows_with_cpus_and_heap_and_is_bounded() {
        assertEquals(1 << 15, new KnownClients(4, 16 << 20).room());
        assertEquals(1 << 18, new KnownClients(1, 4L << 30).room());
        assertEquals(1 << 20, new KnownClients(4, 4L << 30).room());
        assertEquals(1 << 19, new KnownClients(64, 1L << 30).room());
        assertEquals(1 << 24, new KnownClients(1_000, 1L << 40).room());
    }

    @Test
    void the_clock_may_be_anywhere_and_cross_its_zero() throws UnknownHostException {
        known.add(address(1), -5 * SECOND);
        assertTrue(known.contains(address(1), 5 * SECOND));
        known.add(address(2), Long.MAX_VALUE - SECOND);
        assertTrue(known.contains(address(2), Long.MAX_VALUE));
    }
}
