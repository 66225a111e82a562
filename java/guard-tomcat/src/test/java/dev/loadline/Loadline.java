package dev.loadline;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands for {@code loadline-api}, by whose names the guard finds it: keeps what it is told. */
public final class Loadline {
    public static final List<String> TOLD = new CopyOnWriteArrayList<>();
    /** What it throws in place of keeping it; null: nothing. */
    public static volatile Error failure;

    private Loadline() {}

    public static void event(String type, long value) {
        tell(type + " " + value);
    }

    public static Span span(String name) {
        tell("begin " + name);
        return () -> tell("end " + name);
    }

    private static void tell(String what) {
        Error now = failure;
        if (now != null) {
            throw now;
        }
        TOLD.add(what);
    }

    /** As the real one: more than what the guard asks for. */
    public interface Span extends AutoCloseable {
        @Override
        void close();
    }
}
