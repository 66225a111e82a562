package dev.loadline.agent.boot;

/** Called from {@code dev.loadline.Loadline}. */
public final class AppProbes {
    /** A span's id is its begin's offset in the spool below, and the session's epoch above. */
    private static final int EPOCH_SHIFT = 48;

    private AppProbes() {}

    public static void named(int type, String name) {
        Session s = Emit.session();
        if (s != null) {
            Emit.write(s, type, s.strings.id(name), 0, 0);
        }
    }

    public static void pop() {
        Session s = Emit.session();
        if (s != null) {
            Emit.write(s, Type.APP_POP, 0, 0, 0);
        }
    }

    public static void event(String type, long value) {
        Session s = Emit.session();
        if (s != null) {
            Emit.write(s, Type.APP_EVENT, s.strings.id(type), value, 0);
        }
    }

    public static long spanBegin(String name) {
        Session s = Emit.session();
        if (s == null) {
            return 0;
        }
        return Emit.spanBegin(s, s.strings.id(name), (long) s.epoch << EPOCH_SHIFT);
    }

    public static void spanEnd(long id) {
        Emit.end((int) (id >>> EPOCH_SHIFT), Type.SPAN_END, id, 0);
    }
}
