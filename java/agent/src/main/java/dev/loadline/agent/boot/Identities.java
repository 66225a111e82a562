package dev.loadline.agent.boot;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

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

    /** A place's hash may be another's than its entry's for a moment: the entry decides. */
    private final int[] hashes = new int[SETS * WAYS];

    private final Entry[] table = new Entry[SETS * WAYS];

    long get(Object key) {
        int hash = System.identityHashCode(key);
        int first = first(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (hashes[i] == hash) {
                Entry entry = at(i);
                if (entry != null && entry.refersTo(key)) {
                    return entry.value;
                }
            }
        }
        return 0;
    }

    void put(Object key, long value) {
        int hash = System.identityHashCode(key);
        int place = place(hash);
        U.putReferenceRelease(table, Arrays.element(place), new Entry(key, value));
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

    private static int first(int hash) {
        return ((hash ^ hash >>> 14) & SETS - 1) * WAYS;
    }

    private Entry at(int i) {
        return (Entry) U.getReferenceAcquire(table, Arrays.element(i));
    }

    /** An object that may go, and its number. */
    static final class Entry extends WeakReference<Object> {
        final long value;

        Entry(Object key, long value) {
            super(key);
            this.value = value;
        }
    }
}
