package dev.loadline.guard.abuse;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

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
}
