package dev.loadline.agent.hooks;

import java.util.Arrays;

/** The platform threads of the program, and what they run. */
public final class Threads {
    private Threads() {}

    /** Those that live; found without stopping the program. */
    public static Thread[] all() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[2 * root.activeCount() + 16];
        return Arrays.copyOf(threads, root.enumerate(threads, true));
    }

    /** What a thread was given to run; null if it is over, or a subclass that runs itself. */
    public static Object task(Thread thread) throws ReflectiveOperationException {
        if (FIELD_HOLDER != null) {
            Object holder = FIELD_HOLDER.get(thread);
            return holder == null ? null : Fields.get(holder, "task");
        }
        return TARGET.get(thread);
    }

    /** Java 19 and later. */
    private static final java.lang.reflect.Field FIELD_HOLDER = find("holder");
    private static final java.lang.reflect.Field TARGET = find("target");

    private static java.lang.reflect.Field find(String name) {
        try {
            return Fields.of(Thread.class, name);
        } catch (NoSuchFieldException otherVersion) {
            return null;
        }
    }
}
