package dev.loadline.bed;

import java.util.concurrent.ThreadFactory;

/** Virtual threads of the JDK that runs: these programs are compiled for 17, which has none. */
public final class VirtualThreads {
    private VirtualThreads() {
    }

    /**
     * Makes virtual threads with these names and a number.
     *
     * @throws Options.UsageException if this JDK has none
     */
    public static ThreadFactory factory(String name) {
        try {
            Class<?> builderType = Class.forName("java.lang.Thread$Builder$OfVirtual");
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Object named = builderType.getMethod("name", String.class, long.class).invoke(builder, name, 0L);
            return (ThreadFactory) builderType.getMethod("factory").invoke(named);
        } catch (ReflectiveOperationException | UnsupportedOperationException e) {
            throw new Options.UsageException("virtual threads need JDK 21 or later; this is " + Runtime.version().feature());
        }
    }
}
