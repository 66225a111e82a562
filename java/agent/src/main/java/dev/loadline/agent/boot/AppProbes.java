package dev.loadline.agent.boot;

import java.util.function.Consumer;

/** Called from the application's copy of {@code dev.loadline}. */
public final class AppProbes {
    /** A span's id is its begin's offset in the spool below, and the session's epoch above. */
    private static final int EPOCH_SHIFT = 48;

    private static volatile Consumer<Class<?>> introduced;

    private AppProbes() {}

    /** Who is told of each copy of {@code dev.loadline.Loadline} that is initialised from now on. */
    public static void introduce(Consumer<Class<?>> to) {
        introduced = to;
    }

    /** Called by {@code dev.loadline.Loadline} when it is initialised. */
    public static void meet(Class<?> loadline) {
        Consumer<Class<?>> to = introduced;
        if (to != null) {
            to.accept(loadline);
        }
    }

    public static void named(int type, String name) {
        Session s = Emit.app();
        if (s != null) {
            Emit.write(s, type, s.strings.id(name), 0, 0);
        }
    }

    public static void pop() {
        Session s = Emit.app();
        if (s != null) {
            Emit.write(s, Type.APP_POP, 0, 0, 0);
        }
    }

    public static void event(String type, long value) {
        Session s = Emit.app();
        if (s != null) {
            Emit.write(s, Type.APP_EVENT, s.strings.id(type), value, 0);
        }
    }

    public static long spanBegin(String name) {
        Session s = Emit.app();
        if (s == null) {
            return 0;
        }
        return spanBegin(s, name);
    }

    /** Whoever asks, and whether its level is recorded, is for the caller to know. */
    static long spanBegin(Session s, String name) {
        return Emit.spanBegin(s, s.strings.id(name), (long) s.epoch << EPOCH_SHIFT);
    }

    public static void spanEnd(long id) {
        Emit.end((int) (id >>> EPOCH_SHIFT), Type.SPAN_END, id, 0);
    }
}
