package dev.loadline.auction.fault;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** All faults by name. */
public final class Faults {
    private record Entry(String summary, Function<String, Fault> maker) {
    }

    private static final Map<String, Entry> ALL = new LinkedHashMap<>();

    static {
        add("shared-connection", "all servlets use one database connection, kept in a field", SharedConnection::new);
        add("lost-notify", "a connection pool that notifies only when it was empty", LostNotify::new);
        add("small-pool", "one database connection for all worker threads", SmallPool::new);
        add("hot-lock", "every page does some work under one monitor", HotLock::new);
        add("slow-sql", "the bids have no index by item", SlowSql::new);
        add("gc-pressure", "every page allocates 4 MB, part of which lives for a while", GcPressure::new);
        add("leak", "every page leaves 64 kB behind in a map that nobody clears", Leak::new);
        add("pinned", "pages on virtual threads block where their carrier cannot be freed", Pinned::new);
        add("slow-database", "the database's answers arrive 4 ms late", SlowDatabase::new);
        add("slow-service", "every page asks another service first, which takes 12 ms", SlowService::new);
        add("few-permits", "two permits for pages to ask some service that takes 12 ms", FewPermits::new);
        add("few-workers", "two worker threads for pages that wait 12 ms for something", FewWorkers::new);
        add("accept-overflow", "few connections are served at a time, and the kernel drops the others", AcceptOverflow::new);
        add("handshake-storm", "no keep-alive and no resumption: a full handshake for every request", HandshakeStorm::new);
        add("disk", "every page writes an audit log and waits for the disk", Disk::new);
        add("cpu-neighbour", "other processes compute on the site's CPUs", CpuNeighbour::new);
        add("throttled", "a cgroup's CPU quota stops the site in every period (needs root)", Throttled::new);
        add("slow-static", "images are read from disk a byte at a time", SlowStatic::new);
    }

    private Faults() {
    }

    private static void add(String name, String summary, Function<String, Fault> maker) {
        ALL.put(name, new Entry(summary, maker));
    }

    /** All names. */
    public static Set<String> names() {
        return ALL.keySet();
    }

    /** Each name with a line that says what it plants. */
    public static Map<String, String> summaries() {
        var lines = new LinkedHashMap<String, String>();
        ALL.forEach((name, entry) -> lines.put(name, entry.summary));
        return lines;
    }

    /** The fault of that name; null makes none. */
    public static Fault create(String name) {
        return name == null ? new Fault("") : ALL.get(name).maker.apply(name);
    }

    /** Whether the fault can show only on virtual threads. */
    public static boolean needsVirtualThreads(String name) {
        return name.equals("pinned");
    }

    /** The name that a mistyped one was probably meant to be. */
    public static Optional<String> closest(String typed) {
        String best = null;
        int least = Math.max(3, typed.length() / 2);
        for (String name : ALL.keySet()) {
            int d = distance(typed, name);
            if (d < least) {
                least = d;
                best = name;
            }
        }
        return Optional.ofNullable(best);
    }

    /** Levenshtein's distance. */
    static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
