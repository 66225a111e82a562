package dev.loadline.guard;

import dev.loadline.guard.abuse.Probes;
import dev.loadline.guard.policy.Verdict;
import java.net.InetAddress;
import java.util.function.LongSupplier;

/** Lets in who asks for a health path, although there is no room: what {@link Probes} knows, and the paths. Thread-safe. */
final class ProbeGate {
    private final PathPatterns health;
    private final Probes probes;
    private final LongSupplier nanoTime;

    ProbeGate(GuardSettings settings, LongSupplier nanoTime) {
        health = settings.health();
        probes = new Probes(settings.probeShare());
        this.nanoTime = nanoTime;
    }

    /** Whether a request is for a health path. One that may mean another path than it says is not. */
    boolean isHealth(String path) {
        return health.matches(path) && !path.contains("..") && path.indexOf('%') < 0 && path.indexOf(';') < 0;
    }

    /** Somebody began with a request for a health path, on a connection that was let in, or had a slot. */
    void probed(InetAddress address, String serverName) {
        probes.probed(address, serverName, nanoTime.getAsLong());
    }

    /** Whether a connection that is to be refused has a slot. */
    boolean opens(GuardedConnection connection, Verdict verdict, double costNanos, double cpus) {
        return (verdict == Verdict.REFUSE_BUDGET || verdict == Verdict.REFUSE_CEILING)
            && slot(connection, costNanos, cpus, !connection.standing().claims()) != Probes.Slot.NONE;
    }

    /** Whether a request is served on a connection that has a slot: the first, and as many as it might have connections. */
    boolean serves(GuardedConnection connection, boolean isHealth, boolean first, double cpus) {
        if (!isHealth) {
            probes.askedElse(connection.remoteAddress(), connection.serverName(), nanoTime.getAsLong());
            return false;
        }
        return first || slot(connection, 0, cpus, false) == Probes.Slot.PROBER;
    }

    private Probes.Slot slot(GuardedConnection connection, double costNanos, double cpus, boolean mayTry) {
        return probes.slot(connection.remoteAddress(), connection.serverName(), costNanos, cpus, mayTry, nanoTime.getAsLong());
    }

    /** Requests of connections that had a slot took so much CPU time. */
    void spent(long cpuNanos) {
        probes.spent(cpuNanos);
    }
}
