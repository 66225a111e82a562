package dev.loadline.agent.boot;

import jdk.internal.vm.annotation.DontInline;

/** Ids of SQL texts as the application wrote them; a direct-mapped cache, so that it is bounded. */
final class SqlCache {
    private static final int SLOTS = 4_096;
    private static final int MAX_CHARS = 4_000;

    private final Entry[] table = new Entry[SLOTS];

    @DontInline
    int id(String sql, Strings strings) {
        if (sql == null) {
            return 0;
        }
        int hash = sql.hashCode();
        int slot = (hash ^ hash >>> 12) & SLOTS - 1;
        Entry entry = table[slot]; // a race costs a second normalisation at most: entries are immutable
        if (entry != null && entry.sql.equals(sql)) {
            return entry.id;
        }
        int id = strings.id(SqlText.normalise(sql));
        if (sql.length() <= MAX_CHARS) {
            table[slot] = new Entry(sql, id);
        }
        return id;
    }

    /** A text as written, and the id of what it normalises to. */
    static final class Entry {
        final String sql;
        final int id;

        Entry(String sql, int id) {
            this.sql = sql;
            this.id = id;
        }
    }
}
