package dev.loadline.agent.boot;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Remembers a number for an object, by identity and weakly; forgets when it is crowded.
 *
 * <p>A set-associative cache, so that it is bounded and needs no lock: an object has a few places,
 * and when they are taken by objects that are still there, the newest takes one of them. What is
 * forgotten reads as 0. Hashes lie beside each other, so that few entries are looked at: those of
 * the right hash, and one whose object is gone. The others are in no cache.
 */
final class Identities {
    private static final int WAYS = 4;
    private static final int SETS = 1 << 14;
    private static final Unsafe U = Unsafe.getUnsafe();

    private final int sets;
    /** A place's hash may be another's than its entry's for a moment: the entry decides. */
    private final int[] hashes;

    private final Entry[] table;

    Identities() {
        this(SETS);
    }

    /** @param sets a power of two */
    Identities(int sets) {
        this.sets = sets;
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
        int hash = System.identityHashCode(key);
        int place = place(hash);
        U.putReferenceRelease(table, Arrays.element(place), entry);
        hashes[place] = hash;
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
