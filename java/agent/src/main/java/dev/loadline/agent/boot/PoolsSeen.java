package dev.loadline.agent.boot;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** The pools that a recording has seen somebody ask for a connection, so that their limits can be told. They may go. */
public final class PoolsSeen {
    /** A program that makes a pool for each request has no limit that could be told. */
    private static final int MOST = 64;

    private final List<Pool> seen = new ArrayList<>();

    /** A pool, and its name in the recording. */
    public static final class Pool extends WeakReference<Object> {
        public final String name;

        Pool(Object pool, String name) {
            super(pool);
            this.name = name;
        }
    }

    synchronized void add(Object pool, String name) {
        for (Pool known : seen) {
            if (known.refersTo(pool)) {
                return;
            }
        }
        if (seen.size() < MOST) {
            seen.add(new Pool(pool, name));
        }
    }

    /** All of them. */
    public synchronized List<Pool> all() {
        return new ArrayList<>(seen);
    }
}
