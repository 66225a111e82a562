package dev.loadline.guard.abuse;

import java.net.InetAddress;

/**
 * Addresses that were served not long ago. A hello does not say whether the session that it resumes is
 * under way or was left yesterday; that its address was served in the last minute or two does, unless
 * everybody comes through one proxy: then all are known, and none is preferred. Thread-safe.
 */
public final class KnownClients {
    /** People who think for a minute and a half are still here. */
    private static final long WINDOW_NANOS = 60_000_000_000L;
    private static final int SETS = 4_096;

    private final WindowedCounts served = new WindowedCounts(WINDOW_NANOS, SETS);

    /** An address was served. */
    public synchronized void add(InetAddress address, long nowNanos) {
        served.add(AddressKey.of(address), nowNanos);
    }

    /** Whether it was served in this window or the one before. */
    public synchronized boolean contains(InetAddress address, long nowNanos) {
        return served.contains(AddressKey.of(address), nowNanos);
    }
}
