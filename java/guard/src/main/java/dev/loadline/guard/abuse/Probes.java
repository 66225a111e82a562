package dev.loadline.guard.abuse;

import dev.loadline.guard.policy.Purse;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Who asks whether the server is well: load balancers, orchestrators, monitoring. Refusing them takes the whole server
 * out of service, and before the first request nothing tells them from clients. Thread-safe.
 *
 * <p>A <em>prober</em> is an address, with the server name in its hello, whose connection began with a request for a
 * health path; it stays one for {@value #REMEMBERED_SECONDS} s after the last such connection. (With the name, because
 * probes mostly send none: behind a proxy, clients share the address but not the name.) While others are refused it goes
 * on having a few new connections each second. Any other address may <em>try</em>: one connection, whose first request
 * decides; if that is for something else, or none comes, the address has no other try for a while, twice as long each
 * time.
 *
 * <p>What always holds: probers together get connections worth at most {@code share} of the CPUs, tries a fifth of that
 * beside, over any time, and one second's worth more; and memory is bounded.
 */
public final class Probes {
    /** What became of a refused connection. */
    public enum Slot { NONE, PROBER, TRY }

    /** New connections of one prober in a second: liveness, readiness and start-up probes of one orchestrator may coincide. */
    static final int PER_SECOND = 4;
    static final long REMEMBERED_SECONDS = 3_600;
    /** Share of what probers may take that those who try may take beside. */
    static final double TRIES = 0.2;
    private static final long SECOND = 1_000_000_000L;
    /** After a try that is not decided, or was wrong: a minute, doubled up to some hours. */
    private static final long BARRED_NANOS = 60 * SECOND;
    private static final int MOST_STRIKES = 8;
    private static final int MOST = 4_096;

    private record Key(long address, String serverName) {
        Key(InetAddress address, String serverName) {
            this(AddressKey.of(address), serverName);
        }
    }

    private static final class Prober {
        long seenNanos;
        double slots = PER_SECOND;
        long atNanos;
    }

    private static final class Tried {
        long untilNanos;
        int strikes;
    }

    private final double share;
    private final Map<Key, Prober> probers = bounded();
    private final Map<Long, Tried> tried = bounded();
    private final Purse forProbers = new Purse();
    private final Purse forTries = new Purse();

    /** @param share of the CPUs that probers may take while others are refused; 0: nobody has a slot */
    public Probes(double share) {
        this.share = share;
    }

    private static <K, V> Map<K, V> bounded() {
        return new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > MOST;
            }
        };
    }

    /**
     * Whether a connection that is to be refused is let in to ask for a health path.
     *
     * @param serverName in its hello; null when there is none
     * @param costNanos CPU time of such a connection
     * @param cpus CPUs at hand
     * @param mayTry whether one that is not known may try
     */
    public synchronized Slot slot(InetAddress address, String serverName, double costNanos, double cpus, boolean mayTry, long nowNanos) {
        if (share <= 0) {
            return Slot.NONE;
        }
        Prober prober = probers.get(new Key(address, serverName));
        if (prober != null && nowNanos - prober.seenNanos <= REMEMBERED_SECONDS * SECOND) {
            prober.slots = Math.min(PER_SECOND, prober.slots + (double) (nowNanos - prober.atNanos) * PER_SECOND / SECOND);
            prober.atNanos = nowNanos;
            if (prober.slots < 1 || !forProbers.takes(costNanos, share * cpus, nowNanos)) {
                return Slot.NONE;
            }
            prober.slots--;
            return Slot.PROBER;
        }
        Tried before = tried.get(AddressKey.of(address));
        if (!mayTry || before != null && nowNanos - before.untilNanos < 0 || !forTries.takes(costNanos, TRIES * share * cpus, nowNanos)) {
            return Slot.NONE;
        }
        barred(address, nowNanos);
        return Slot.TRY;
    }

    /** A connection began with a request for a health path. */
    public synchronized void probed(InetAddress address, String serverName, long nowNanos) {
        var key = new Key(address, serverName);
        Prober prober = probers.get(key);
        if (prober == null) {
            prober = new Prober();
            prober.atNanos = nowNanos;
            probers.put(key, prober);
        }
        prober.seenNanos = nowNanos;
        tried.remove(AddressKey.of(address));
    }

    /** Requests of probers took so much CPU time beside their handshakes. */
    public synchronized void spent(long cpuNanos) {
        forProbers.spent(cpuNanos);
    }

    /** A connection that had a slot asked for something else. */
    public synchronized void askedElse(InetAddress address, String serverName, long nowNanos) {
        if (probers.remove(new Key(address, serverName)) != null) {
            barred(address, nowNanos);
        }
    }

    private void barred(InetAddress address, long nowNanos) {
        Tried now = tried.computeIfAbsent(AddressKey.of(address), a -> new Tried());
        now.untilNanos = nowNanos + (BARRED_NANOS << now.strikes);
        now.strikes = Math.min(MOST_STRIKES, now.strikes + 1);
    }
}
