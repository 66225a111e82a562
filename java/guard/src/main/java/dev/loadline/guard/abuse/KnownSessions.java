package dev.loadline.guard.abuse;

import java.security.SecureRandom;

/**
 * Sessions that this server let in and served not long ago, by a hash of what their requests show: a cookie, a token. What
 * a client shows is in here only when the server issued it, or served it after it had passed the gate and did not disown it:
 * that is what makes it more than a claim. Thread-safe; memory is fixed.
 *
 * <p>The hash has a secret of this process: nobody can make a value that falls together with another one, and a guess hits
 * one of a million sessions once in a hundred million times.
 */
public final class KnownSessions {
    private static final long WINDOW_NANOS = 10_000_000_000L;
    private static final int SETS = 4_096;
    private static final long ODD = 0x9e3779b97f4a7c15L;

    private final RecentKeys served;
    /** Sessions that asked for something important; few do, and theirs are about to complete. */
    private final RecentKeys important;
    private final WindowedCounts uses = new WindowedCounts(WINDOW_NANOS, SETS);
    private final int mostUses;
    private final long seed;
    private final long factor;

    /** @param mostUses requests of one session in 10 s before it counts as a new one */
    public KnownSessions(int mostUses) {
        long cpus = Runtime.getRuntime().availableProcessors();
        long heap = Runtime.getRuntime().maxMemory();
        served = new RecentKeys(KnownClients.PLACES_PER_CPU * cpus, heap);
        important = new RecentKeys(0, heap);
        this.mostUses = mostUses;
        var random = new SecureRandom();
        seed = random.nextLong();
        factor = random.nextLong() | 1;
    }

    /** Sessions that it has room for. */
    public int room() {
        return served.room();
    }

    /** What stands for a value from now on, which is forgotten. @param kind such as the name of its cookie */
    public long key(String kind, CharSequence value) {
        return mix(mix(seed, kind), value);
    }

    private long mix(long from, CharSequence text) {
        long hash = from ^ text.length() * ODD;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * factor;
            hash ^= hash >>> 29;
        }
        hash = (hash ^ hash >>> 32) * ODD;
        return hash ^ hash >>> 29;
    }

    /** A session was let in and served, or was issued. @return whether it was known */
    public boolean add(long key, long nowNanos) {
        return served.add(key, nowNanos);
    }

    /** Whether it is known; who is known and comes again stays known. */
    public boolean comes(long key, long nowNanos) {
        return served.contains(key, nowNanos, true);
    }

    /** The server said that there is no such session, or ended it. @return whether it was one */
    public boolean remove(long key) {
        important.remove(key);
        return served.remove(key);
    }

    /** Whether this was, or is from now on, a session in which something important was asked for. */
    public boolean isImportant(long key, boolean now, long nowNanos) {
        if (now) {
            important.add(key, nowNanos);
            return true;
        }
        return important.contains(key, nowNanos, true);
    }

    /** Counts a request of a session; false when there were too many for one: many clients may show the same. */
    public synchronized boolean mayUse(long key, long nowNanos) {
        return uses.add(key, nowNanos) <= mostUses;
    }
}
