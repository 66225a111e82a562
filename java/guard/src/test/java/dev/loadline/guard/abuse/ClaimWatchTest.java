package dev.loadline.guard.abuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClaimWatchTest {
    private static final long SECOND = 1_000_000_000L;

    private final ClaimWatch watch = new ClaimWatch(5, 20);

    private static InetAddress address(int... bytes) {
        byte[] raw = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            raw[i] = (byte) bytes[i];
        }
        try {
            return InetAddress.getByAddress(raw);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_ticket_may_be_used_so_often_from_one_address_and_then_after_a_while_again() {
        byte[] ticket = {1, 2, 3};
        InetAddress here = address(10, 0, 0, 1);
        for (int i = 0; i < 5; i++) {
            assertTrue(watch.mayUse(ticket, here, SECOND));
        }
        assertFalse(watch.mayUse(ticket, here, SECOND));
        assertTrue(watch.mayUse(ticket, address(10, 0, 0, 2), SECOND));
        assertTrue(watch.mayUse(new byte[] {1, 2, 4}, here, SECOND));
        assertTrue(watch.mayUse(ticket, here, 40 * SECOND));
    }

    @Test
    void an_address_without_honest_claims_is_barred_for_a_while() {
        InetAddress liar = address(10, 0, 0, 1);
        for (int i = 0; i < 20; i++) {
            assertTrue(watch.mayClaim(liar, SECOND));
            watch.claimed(liar, false, SECOND);
        }
        assertFalse(watch.mayClaim(liar, SECOND));
        assertTrue(watch.mayClaim(address(10, 0, 0, 2), SECOND));
        assertTrue(watch.mayClaim(liar, 40 * SECOND));
    }

    /** Counts are kept by windows of ten seconds: the end of one must not make good what was bad just before. */
    @Test
    void one_bad_claim_bars_for_a_while_whenever_it_comes() {
        ClaimWatch strict = new ClaimWatch(5, 1);
        InetAddress liar = address(10, 0, 0, 1);
        long before = 20 * SECOND - 1;
        strict.claimed(liar, false, before);
        assertFalse(strict.mayClaim(liar, before));
        assertFalse(strict.mayClaim(liar, before + SECOND));
        assertTrue(strict.mayClaim(liar, before + 20 * SECOND));
    }

    @Test
    void an_address_that_honest_clients_share_is_not_barred() {
        InetAddress shared = address(10, 0, 0, 1);
        for (int i = 0; i < 200; i++) {
            watch.claimed(shared, i % 8 == 0, SECOND);
        }
        assertTrue(watch.mayClaim(shared, SECOND));
    }

    @Test
    void the_addresses_of_one_ipv6_network_are_one() {
        for (int i = 0; i < 20; i++) {
            watch.claimed(address(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, i), false, SECOND);
        }
        assertFalse(watch.mayClaim(address(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9), SECOND));
        assertTrue(watch.mayClaim(address(0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9), SECOND));
    }

    @Test
    void who_does_much_is_counted_among_any_number_of_others() {
        var counts = new WindowedCounts(10 * SECOND, 64);
        var random = new Random(3);
        int last = 0;
        for (int i = 0; i < 100_000; i++) {
            counts.add(random.nextLong(), SECOND);
            if (i % 100 == 0) {
                last = counts.add(42, SECOND);
            }
        }
        assertEquals(1_000, last, 10);
    }

    @Test
    void a_window_fades_into_the_next_one() {
        var counts = new WindowedCounts(10 * SECOND, 64);
        for (int i = 0; i < 100; i++) {
            counts.add(7, 5 * SECOND);
        }
        assertEquals(100, counts.get(7, 5 * SECOND));
        assertEquals(50, counts.get(7, 15 * SECOND));
        assertEquals(0, counts.get(7, 25 * SECOND));
    }
}
