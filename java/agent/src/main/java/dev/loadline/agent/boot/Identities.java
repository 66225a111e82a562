package dev.loadline.agent.boot;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Remembers a number for an object, by identity and weakly; forgets when it is crowded.
 *
 * <p>A set-associative cache, so that it is bounded and needs no lock: an object has a few places,
 * and when they are taken by objects that are still there, the newest takes one of them. Whose place that was moves
 * into a larger cache, made when it is needed first, and is forgotten where that is crowded as well. What is
 * forgotten reads as 0. Hashes lie beside each other, so that few entries are looked at: those of
 * the right hash, and one whose object is gone. The first cache is small enough to stay in the processor's: most objects are
 * asked for soon or never, and many come with each request.
 */
final class Identities {
    private static final int WAYS = 4;
    private static final int SETS = 1 << 10;
    private static final int OLDER_SETS = 1 << 14;
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long OLDER = U.objectFieldOffset(Identities.class, "older");

    private final int sets;
    /** Of the larger cache; 0: there is none. */
    private final int olderSets;

    /** Who had to make room; null as long as nobody had. */
    private volatile Identities older;
    /** A place's hash may be another's than its entry's for a moment: the entry decides. */
    private final int[] hashes;

    private final Entry[] table;

    Identities() {
        this(SETS, OLDER_SETS);
    }

    /** @param olderSets powers of two, both; no more than these are remembered where it is 0 */
    Identities(int sets, int olderSets) {
        this.sets = sets;
        this.olderSets = olderSets;
        hashes = new int[sets * WAYS];
        table = new Entry[sets * WAYS];
    }

    int get(Object key) {
        Entry entry = entry(key);
        return entry == null ? 0 : entry.value;
    }

    /** What is remembered of an object, or null. */
    @DontInline
    Entry entry(Object key) {
        int hash = System.identityHashCode(key);
        Entry entry = find(key, hash);
        Identities more = older;
        return entry == null && more != null ? more.find(key, hash) : entry;
    }

    private Entry find(Object key, int hash) {
        int first = first(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (hashes[i] == hash) {
                Entry entry = at(i);
                if (entry != null && entry.refersTo(key)) {
                    return entry;
                }
            }
        }
        return null;
    }

    void put(Object key, int value) {
        put(key, new Entry(key, value));
    }

    /** @param entry of this object */
    @DontInline
    void put(Object key, Entry entry) {
        put(System.identityHashCode(key), entry);
    }

    private void put(int hash, Entry entry) {
        int place = place(hash);
        int lastHash = hashes[place];
        Entry last = at(place);
        if (lastHash != hash && last != null && !last.refersTo(null)) {
            makeRoom(lastHash, last);
        }
        U.putReferenceRelease(table, Arrays.element(place), entry);
        hashes[place] = hash;
    }

    /** Before the newest is there: who is asked for meanwhile is in one of the caches. */
    @DontInline
    private void makeRoom(int hash, Entry entry) {
        if (olderSets == 0) {
            return;
        }
        Identities more = older;
        if (more == null) {
            U.compareAndSetReference(this, OLDER, null, new Identities(olderSets, 0));
            more = older;
        }
        more.put(hash, entry);
    }

    /** Its own place, else a free one, else one whose object is gone, else any of its set. */
    private int place(int hash) {
        int first = first(hash);
        int free = -1;
        for (int i = first; i < first + WAYS; i++) {
            if (hashes[i] == hash) {
                return i;
            }
            if (hashes[i] == 0) {
                free = i;
            }
        }
        if (free >= 0) {
            return free;
        }
        int start = hash >>> 28; // bits that do not choose the set
        for (int i = start; i < start + WAYS; i++) {
            Entry entry = at(first + (i & WAYS - 1));
            if (entry == null || entry.refersTo(null)) {
                return first + (i & WAYS - 1);
            }
        }
        return first + (start & WAYS - 1);
    }

    private int first(int hash) {
        return ((hash ^ hash >>> 14) & sets - 1) * WAYS;
    }

    private Entry at(int i) {
        return (Entry) U.getReferenceAcquire(table, Arrays.element(i));
    }

    /** An object that may go, and its number. */
    static class Entry extends WeakReference<Object> {
        final int value;

        Entry(Object key, int value) {
            super(key);
            this.value = value;
        }
    }
}
