package dev.loadline.omp.runtime;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/** The monitors of {@code critical}, and of {@code atomic} on what no lock-free update can reach. */
public final class Locks {
    /** All {@code critical} directives without a name exclude one another. */
    public static final Object CRITICAL = new Object();

    private static final ConcurrentHashMap<String, Object> NAMED = new ConcurrentHashMap<>();
    private static final Object[] ATOMIC = new Object[64];

    static {
        Arrays.setAll(ATOMIC, i -> new Object());
    }

    private Locks() {}

    /**
     * The monitor of a named {@code critical}.
     *
     * @param name its name, one for the whole program
     * @return always the same for the same name
     */
    public static Object critical(String name) {
        Object lock = NAMED.get(name);
        return lock != null ? lock : NAMED.computeIfAbsent(name, n -> new Object());
    }

    /**
     * The monitor that guards atomic updates of a field, in whatever object.
     *
     * @param field its name, with the class's
     * @return always the same for the same field
     */
    public static Object atomic(String field) {
        return ATOMIC[(field.hashCode() * 0x9E3779B9) >>> 26];
    }
}
