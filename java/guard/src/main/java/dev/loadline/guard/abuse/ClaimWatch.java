package dev.loadline.guard.abuse;

import java.net.InetAddress;
import java.util.Arrays;

/**
 * Watches claims: how often the same ticket comes from the same address, and how many claims of an
 * address were not good. Thread-safe.
 *
 * <p>An address is barred while it had at least {@code badClaims} bad claims in the last seconds and
 * fewer than one good per ten bad ones: behind one address there may be many clients, and the honest
 * ones show. An IPv6 client has a whole /64 to send from: that counts as one address.
 */
public final class ClaimWatch {
    private static final long WINDOW_NANOS = 10_000_000_000L;
    private static final int SETS = 2_048;
    private static final int HONEST_RATIO = 10;

    private final int ticketReuse;
    private final int badClaims;
    private final WindowedCounts tickets = new WindowedCounts(WINDOW_NANOS, SETS);
    private final WindowedCounts bad = new WindowedCounts(WINDOW_NANOS, SETS);
    private final WindowedCounts good = new WindowedCounts(WINDOW_NANOS, SETS);

    /**
     * @param ticketReuse uses of one ticket from one address in 10 s
     * @param badClaims bad claims of one address in 10 s
     */
    public ClaimWatch(int ticketReuse, int badClaims) {
        this.ticketReuse = ticketReuse;
        this.badClaims = badClaims;
    }

    /** Counts this use of a claim; false when there were too many. */
    public synchronized boolean mayUse(byte[] claim, InetAddress address, long nowNanos) {
        return tickets.add(AddressKey.mix(Arrays.hashCode(claim), sample(claim)) ^ AddressKey.of(address), nowNanos) <= ticketReuse;
    }

    /** Whether an address may claim at all. */
    public synchronized boolean mayClaim(InetAddress address, long nowNanos) {
        int failed = bad.get(AddressKey.of(address), nowNanos);
        return failed < badClaims || good.get(AddressKey.of(address), nowNanos) * HONEST_RATIO >= failed;
    }

    /** What came of a claim. */
    public synchronized void claimed(InetAddress address, boolean wasGood, long nowNanos) {
        (wasGood ? good : bad).add(AddressKey.of(address), nowNanos);
    }

    private static long sample(byte[] claim) {
        long sum = claim.length;
        for (int i = Math.max(0, claim.length - 16); i < claim.length; i++) {
            sum = sum * 0x100000001b3L ^ claim[i];
        }
        return sum;
    }
}
