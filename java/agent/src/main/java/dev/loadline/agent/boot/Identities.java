package dev.loadline.agent.boot;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

/**
 * Remembers a number for an object, by identity and weakly; forgets when it is crowded.
 *
 * <p>A set-associative cache, so that it is bounded and needs no lock: an object has a few places,
 * and when they are taken, the newest takes the next in turn. What is forgotten reads as 0.
 */
final class Identities {
    private static final int WAYS = 4;
    private static final int SETS = 1 << 14;
    private static final Unsafe U = Unsafe.getUnsafe();

    private final Entry[] table = new Entry[SETS * WAYS];

    int get(Object key) {
        int first = first(key);
        for (int i = first; i < first + WAYS; i++) {
            Entry entry = at(i);
            if (entry != null && entry.refersTo(key)) {
                return entry.value;
            }
        }
        return 0;
    }

    void put(Object key, int value) {
        int first = first(key);
        int place = first + (value & WAYS - 1);
        for (int i = first; i < first + WAYS; i++) {
            Entry entry = at(i);
            if (entry != null && entry.refersTo(key)) {
                place = i;
                break;
            }
            if (entry == null || entry.refersTo(null)) {
                place = i;
            }
        }
        U.putReferenceRelease(table, Arrays.element(place), new Entry(key, value));
    }

    private static int first(Object key) {
        int hash = System.identityHashCode(key);
        return ((hash ^ hash >>> 14) & SETS - 1) * WAYS;
    }

    private Entry at(int i) {
        return (Entry) U.getReferenceAcquire(table, Arrays.element(i));
    }

    /** An object that may go, and its number. */
    static final class Entry extends WeakReference<Object> {
        final int value;

        Entry(Object key, int value) {
            super(key);
            this.value = value;
        }
    }
}
