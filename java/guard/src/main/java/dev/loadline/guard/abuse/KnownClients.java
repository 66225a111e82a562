package dev.loadline.guard.abuse;

import java.net.InetAddress;

/**
 * Addresses that were served not long ago. A hello does not say whether the session that it resumes is
 * under way or was left yesterday; that its address was served in the last minute or two does, unless
 * everybody comes through one proxy: then all are known, and none is preferred. Thread-safe.
 */
public final class KnownClients {
    /**
     * Places per CPU: some thousand new clients a second, which is more than it can shake hands with, for two minutes,
     * twice over, so that hardly a set overflows. 2 MiB.
     */
    static final int PLACES_PER_CPU = 1 << 18;

    private final RecentKeys served;

    /** As large as this virtual machine can use, and has room for. */
    public KnownClients() {
        this(Runtime.getRuntime().availableProcessors(), Runtime.getRuntime().maxMemory());
    }

    /** @param heapBytes the most that the heap may have */
    KnownClients(int cpus, long heapBytes) {
        served = new RecentKeys((long) PLACES_PER_CPU * cpus, heapBytes);
    }

    /** Addresses that it has room for. */
    public int room() {
        return served.room();
    }

    /** An address was served. */
    public void add(InetAddress address, long nowNanos) {
        served.add(AddressKey.of(address), nowNanos);
    }

    /** Whether it was served in the last minute or two. */
    public boolean contains(InetAddress address, long nowNanos) {
        return served.contains(AddressKey.of(address), nowNanos, false);
    }
}
