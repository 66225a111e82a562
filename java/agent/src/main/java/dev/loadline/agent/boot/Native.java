package dev.loadline.agent.boot;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** The native half, {@code libloadline-agent.so}. Loaded from the boot loader, which needs no permission for it. */
public final class Native {
    /** {@link #awaitControl}: nothing was said in time. */
    public static final int SILENT = 0;
    /** {@link #awaitControl}: the recorder said stop. */
    public static final int STOP = 1;
    /** {@link #awaitControl}: the recorder had opened its end and has closed it, or died. */
    public static final int CLOSED = 2;
    /** {@link #awaitControl}: the recorder has not opened its end yet. */
    public static final int NOBODY = 3;

    private Native() {}

    /**
     * Loads the library at this absolute path. What {@code System.load} would call; that itself
     * prints a warning from Java 24 on, though classes of the boot loader need no permission.
     */
    public static void load(String path) throws ReflectiveOperationException {
        Method load = Runtime.class.getDeclaredMethod("load0", Class.class, String.class);
        load.setAccessible(true);
        try {
            load.invoke(Runtime.getRuntime(), Native.class, path);
        } catch (InvocationTargetException e) {
            throw new UnsatisfiedLinkError(path + " cannot be loaded: " + e.getCause().getMessage());
        }
    }

    /** Kernel's id of the calling thread. */
    static native int gettid();

    /** Address of a word of the calling kernel thread's, as long as that lives, in which {@link Slot#says} tells whether it is at work. */
    static native long atWork();

    /** CPU time of the calling kernel thread. */
    static native long cpuNanos();

    /** Maps a whole file for reading and writing, and returns the address. */
    public static native long map(String path) throws IOException;

    /**
     * Puts private, empty memory where the mapping was. Whoever still writes there writes into
     * nothing, instead of crashing the JVM or changing the file. The addresses are never used again.
     */
    public static native void seal(long address, long size);

    /**
     * Enables the events of the jvm level, which are written to the spool mapped at this address.
     *
     * @return null, or what is missing
     */
    public static String startEvents(long address) {
        return start(address);
    }

    /** Whether the threads that lived when that was called have been named, each with the kernel's id. */
    public static boolean namesThreads() {
        return names();
    }

    /** Writes what was sampled since the last call. */
    public static void drainSamples() {
        drain();
    }

    /** Disables them. */
    public static void stopEvents() {
        stop();
    }

    // Called from here: the JVM warns of natives that are bound by code of another loader's than boot.

    private static native String start(long address);

    private static native boolean names();

    private static native void drain();

    private static native void stop();

    /** Opens a FIFO for reading without waiting for a writer, and returns its descriptor. */
    public static native int openControl(String path) throws IOException;

    /** Waits for a line from the recorder; see the constants. */
    public static native int awaitControl(int fd, int timeoutMillis);

    /** Closes a FIFO. */
    public static native void closeControl(int fd);
}
