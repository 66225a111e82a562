package dev.loadline.omp.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Tells a recording what the threads of a team do, if the program has {@code loadline-api}.
 *
 * <p>There is no dependency on it: its methods are looked up once, by name. Absent, or present and
 * not recording, each call here is a constant handle to an empty method, which the JIT removes.
 *
 * <p>The four states are those of Guitart (2005), table 3.5.
 */
final class Trace {
    /** Waiting for a region. */
    static final String IDLE = "omp idle";
    /** Running the program's own code. */
    static final String RUN = "omp run";
    /** Beginning and ending regions, handing out work, combining reductions. */
    static final String OVERHEAD = "omp overhead";
    /** Waiting for other members of the team. */
    static final String SYNCH = "omp synch";

    private static final Class<?> API = api();
    private static final MethodHandle STATE = find("state", void.class, String.class);
    private static final MethodHandle PUSH = find("push", void.class, String.class);
    private static final MethodHandle POP = find("pop", void.class);
    private static final MethodHandle SPAN = find("span", AutoCloseable.class, String.class);

    private Trace() {}

    /** The current thread is in this state from now on. */
    static void state(String name) {
        try {
            STATE.invokeExact(name);
        } catch (Throwable e) {
            throw Run.sneak(e);
        }
    }

    /** The current thread is in this state until {@link #pop()}. */
    static void push(String name) {
        try {
            PUSH.invokeExact(name);
        } catch (Throwable e) {
            throw Run.sneak(e);
        }
    }

    static void pop() {
        try {
            POP.invokeExact();
        } catch (Throwable e) {
            throw Run.sneak(e);
        }
    }

    /** Begins a span with the name of a directive and its place; null without the API. */
    static AutoCloseable begin(String site) {
        try {
            return (AutoCloseable) SPAN.invokeExact(site);
        } catch (Throwable e) {
            throw Run.sneak(e);
        }
    }

    static void end(AutoCloseable span) {
        if (span != null) {
            try {
                span.close();
            } catch (Exception e) {
                throw Run.sneak(e);
            }
        }
    }

    private static Class<?> api() {
        try {
            return Class.forName("dev.loadline.Loadline");
        } catch (ClassNotFoundException e) {
            return null; // the program does not have it: nothing to tell
        }
    }

    private static MethodHandle find(String name, Class<?> result, Class<?>... parameters) {
        MethodType type = MethodType.methodType(result, parameters);
        if (API != null) {
            for (var method : API.getMethods()) {
                if (method.getName().equals(name) && java.util.Arrays.equals(method.getParameterTypes(), parameters)) {
                    try {
                        return MethodHandles.publicLookup().unreflect(method).asType(type);
                    } catch (IllegalAccessException e) {
                        throw new IllegalStateException("dev.loadline.Loadline." + name + " is not accessible", e);
                    }
                }
            }
        }
        return MethodHandles.empty(type);
    }
}
