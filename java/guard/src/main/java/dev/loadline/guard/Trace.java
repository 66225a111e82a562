package dev.loadline.guard;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Marks and spans in a recording of Loadline, if the server has {@code loadline-api}. Its methods are
 * looked up once, by name; without it, each call here is a constant handle to an empty method.
 */
final class Trace {
    private static final MethodHandle EVENT = find("event", void.class, String.class, long.class);
    private static final MethodHandle SPAN = find("span", AutoCloseable.class, String.class);

    private Trace() {}

    static void event(String type, long value) {
        try {
            EVENT.invokeExact(type, value);
        } catch (Throwable e) {
            throw new IllegalStateException("loadline-api failed", e);
        }
    }

    /** Begins a span; null without the API. */
    static AutoCloseable begin(String name) {
        try {
            return (AutoCloseable) SPAN.invokeExact(name);
        } catch (Throwable e) {
            throw new IllegalStateException("loadline-api failed", e);
        }
    }

    static void end(AutoCloseable span) {
        if (span != null) {
            try {
                span.close();
            } catch (Exception e) {
                throw new IllegalStateException("loadline-api failed", e);
            }
        }
    }

    private static MethodHandle find(String name, Class<?> result, Class<?>... parameters) {
        MethodType type = MethodType.methodType(result, parameters);
        try {
            var method = Class.forName("dev.loadline.Loadline").getMethod(name, parameters);
            return MethodHandles.publicLookup().unreflect(method).asType(type);
        } catch (ReflectiveOperationException e) {
            return MethodHandles.empty(type); // the server does not have it: nothing to tell
        }
    }
}
