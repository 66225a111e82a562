package dev.loadline.agent.boot;

import java.nio.charset.StandardCharsets;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * The session's dictionary: texts to ids, each text written to the spool once.
 *
 * <p>An open-addressing table whose entries are set once, by compare and swap: readers never wait.
 * Ids count from 1; a text whose race for an entry was lost leaves a gap. Texts past the bounds
 * get id 0 and are counted.
 */
final class Strings {
    static final int MAX_STRINGS = 65_536;
    static final int MAX_BYTES = 2_000;
    private static final int SLOTS = 1 << 18;
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long COUNT = U.objectFieldOffset(Strings.class, "count");
    private static final long TAIL = U.objectFieldOffset(Strings.class, "tail");

    private final Session session;
    private final Entry[] table = new Entry[SLOTS];
    private volatile int count;
    private volatile Tail tail = new Tail(0, Session.CHUNK);

    Strings(Session session) {
        this.session = session;
    }

    /** Id of a text; 0 for null, the empty text, and one that is lost. */
    @DontInline
    int id(String text) {
        if (text == null || text.isEmpty()) {
            return 0;
        }
        String key = text.length() > MAX_BYTES ? text.substring(0, MAX_BYTES) : text;
        int hash = key.hashCode();
        Entry mine = null;
        for (int i = hash ^ hash >>> 16; ; i++) {
            long at = Arrays.element(i & SLOTS - 1);
            Entry entry = (Entry) U.getReferenceAcquire(table, at);
            if (entry == null) {
                if (mine == null) {
                    mine = newEntry(key, hash);
                    if (mine == null) {
                        session.countLostString();
                        return 0;
                    }
                }
                if (U.compareAndSetReference(table, at, null, mine)) {
                    write(mine);
                    return mine.id;
                }
                entry = (Entry) U.getReferenceAcquire(table, at);
            }
            if (entry.hash == hash && entry.text.equals(key)) {
                return entry.id;
            }
        }
    }

    private Entry newEntry(String key, int hash) {
        if (count >= MAX_STRINGS) {
            return null;
        }
        int id = U.getAndAddInt(this, COUNT, 1) + 1;
        return id > MAX_STRINGS ? null : new Entry(key, hash, id);
    }

    private void write(Entry entry) {
        byte[] bytes = entry.text.getBytes(StandardCharsets.UTF_8);
        int length = cut(bytes, MAX_BYTES);
        long at = reserve(8 + length + 7 & ~7);
        if (at == 0) {
            session.countLostString();
            return;
        }
        U.putInt(at + 4, length);
        U.copyMemory(bytes, Arrays.BYTES, null, at + 8, length);
        U.putIntRelease(null, at, entry.id);
    }

    /** Length of the longest prefix within max bytes that does not end inside a character. */
    static int cut(byte[] utf8, int max) {
        if (utf8.length <= max) {
            return utf8.length;
        }
        int length = max;
        while (length > 0 && (utf8[length] & 0xC0) == 0x80) {
            length--;
        }
        return length;
    }

    private long reserve(int size) {
        for (;;) {
            Tail last = tail;
            int used = last.used;
            if (used + size <= Session.CHUNK) {
                if (U.compareAndSetInt(last, Tail.USED, used, used + size)) {
                    return last.address + used;
                }
            } else {
                long chunk = session.claimStrings();
                if (chunk == 0) {
                    return 0;
                }
                // Whoever loses this race leaves an empty chunk behind.
                U.compareAndSetReference(this, TAIL, last, new Tail(chunk, Session.CHUNK_HEADER));
            }
        }
    }

    /** A text that has its id. */
    static final class Entry {
        final String text;
        final int hash;
        final int id;

        Entry(String text, int hash, int id) {
            this.text = text;
            this.hash = hash;
            this.id = id;
        }
    }

    /** The chunk that takes new texts: threads reserve room in it by moving {@code used}. */
    static final class Tail {
        static final long USED = U.objectFieldOffset(Tail.class, "used");
        final long address;
        volatile int used;

        Tail(long address, int used) {
            this.address = address;
            this.used = used;
        }
    }
}
