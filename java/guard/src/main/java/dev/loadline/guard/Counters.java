package dev.loadline.guard;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What happened since the start. Thread-safe, cheap to add to. */
final class Counters {
    final LongAdder connections = new LongAdder();
    final LongAdder full = new LongAdder();
    final LongAdder resumed = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder vanished = new LongAdder();
    final LongAdder claims = new LongAdder();
    final LongAdder badClaims = new LongAdder();
    final LongAdder exempt = new LongAdder();
    final LongAdder requests = new LongAdder();
    /** Of requests: sessions that began, and such as the server knew. */
    final LongAdder newSessions = new LongAdder();
    final LongAdder returningSessions = new LongAdder();
    final LongAdder probes = new LongAdder();
    final LongAdder pages = new LongAdder();
    final LongAdder errors = new LongAdder();
    final LongAdder open = new LongAdder();
    final LongAdder refusedNew = new LongAdder();
    final LongAdder refusedClaims = new LongAdder();
    /** CPU time of handshakes and requests that was reported. */
    private final LongAdder attributedCpuNanos = new LongAdder();
    /** The same of all guards of this process. */
    private static final LongAdder ATTRIBUTED_TO_ANY = new LongAdder();
    /** Events that ended. */
    final LongAdder events = new LongAdder();
    /** Events that were handed to a worker and are not done. */
    final UnderWay underWay = new UnderWay();
    /** Time that events waited for a worker thread, or for their turn before that. */
    final LongAdder queuedNanos = new LongAdder();
    /** Time that they waited for their turn. */
    final LongAdder turnNanos = new LongAdder();
    private final Map<Refused, LongAdder> refused = new EnumMap<>(Refused.class);

    Counters() {
        for (Refused why : Refused.values()) {
            refused.put(why, new LongAdder());
        }
    }

    void attribute(long cpuNanos) {
        attributedCpuNanos.add(cpuNanos);
        ATTRIBUTED_TO_ANY.add(cpuNanos);
    }

    long attributedCpuNanos() {
        return attributedCpuNanos.sum();
    }

    /** What any guard of this process was told of: two of them may share a server. */
    static long attributedToAny() {
        return ATTRIBUTED_TO_ANY.sum();
    }

    /** That ended, however. */
    long handshakes() {
        return full.sum() + resumed.sum() + failed.sum();
    }

    LongAdder refused(Refused why) {
        return refused.get(why);
    }
}
