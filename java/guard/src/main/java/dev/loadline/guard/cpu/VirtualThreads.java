package dev.loadline.guard.cpu;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** What a thread's own clock says, on runtimes with virtual threads (21 and up) and without. */
public final class VirtualThreads {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final boolean CPU_TIME = THREADS.isCurrentThreadCpuTimeSupported();
    private static final MethodHandle IS_VIRTUAL = isVirtual();
    private static final MethodHandle QUEUED = findQueued();

    private VirtualThreads() {}

    private static MethodHandle isVirtual() {
        MethodType type = MethodType.methodType(boolean.class, Thread.class);
        try {
            return MethodHandles.publicLookup().unreflect(Thread.class.getMethod("isVirtual")).asType(type);
        } catch (ReflectiveOperationException e) {
            return MethodHandles.empty(type); // there are none
        }
    }

    /** Virtual threads that wait for a carrier; 0 where the runtime does not say, which is before 24. */
    public static int queued() {
        try {
            return (int) Math.min(Integer.MAX_VALUE, Math.max(0, (long) QUEUED.invokeExact()));
        } catch (Throwable e) {
            throw new IllegalStateException("VirtualThreadSchedulerMXBean failed", e);
        }
    }

    private static MethodHandle findQueued() {
        try {
            Class<? extends java.lang.management.PlatformManagedObject> type =
                Class.forName("jdk.management.VirtualThreadSchedulerMXBean").asSubclass(java.lang.management.PlatformManagedObject.class);
            return MethodHandles.publicLookup().unreflect(type.getMethod("getQueuedVirtualThreadCount"))
                .bindTo(ManagementFactory.getPlatformMXBean(type));
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            return MethodHandles.empty(MethodType.methodType(long.class)); // nobody says
        }
    }

    public static boolean isVirtual(Thread thread) {
        try {
            return (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable e) {
            throw new IllegalStateException("Thread.isVirtual failed", e);
        }
    }

    /**
     * The clock of the current thread: its CPU time; on a virtual thread, whose CPU time nobody tells, the wall clock.
     * 0 where there is neither.
     */
    public static long threadNanos() {
        if (isVirtual(Thread.currentThread())) {
            return System.nanoTime();
        }
        return CPU_TIME ? Math.max(0, THREADS.getCurrentThreadCpuTime()) : 0;
    }
}
