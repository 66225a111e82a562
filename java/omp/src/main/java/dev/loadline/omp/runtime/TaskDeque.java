package dev.loadline.omp.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Tasks of one member: it pushes and pops at the bottom, others steal at the top (Chase and Lev,
 * SPAA 2005, with a ring that does not grow: when it is full, the caller runs the task itself).
 */
final class TaskDeque {
    static final int CAPACITY = 256;
    private static final VarHandle TASKS = MethodHandles.arrayElementVarHandle(Task[].class);
    private static final int TOP = Words.line(0);
    private static final int BOTTOM = Words.line(1);

    private final Task[] ring = new Task[CAPACITY];
    private final long[] ends = Words.lines(2);

    /** Adds a task, by the owner; false when there is no room. */
    boolean push(Task task) {
        long bottom = ends[BOTTOM];
        if (bottom - Words.get(ends, TOP) >= CAPACITY) {
            return false;
        }
        TASKS.setRelease(ring, (int) bottom & CAPACITY - 1, task);
        Words.set(ends, BOTTOM, bottom + 1);
        return true;
    }

    /** Takes the newest task, by the owner; null when there is none. */
    Task pop() {
        long bottom = ends[BOTTOM] - 1;
        Words.set(ends, BOTTOM, bottom);
        long top = Words.get(ends, TOP);
        if (top > bottom) {
            Words.set(ends, BOTTOM, bottom + 1);
            return null;
        }
        Task task = (Task) TASKS.getAcquire(ring, (int) bottom & CAPACITY - 1);
        if (top == bottom) { // the last one: a thief may want it too
            if (!Words.compareAndSet(ends, TOP, top, top + 1)) {
                task = null;
            }
            Words.set(ends, BOTTOM, bottom + 1);
        }
        return task;
    }

    /** Takes the oldest task, by another member; null when there is none, another was faster, or it is not in the region. */
    Task steal(Member thief) {
        long top = Words.get(ends, TOP);
        VarHandle.fullFence();
        // The size is read after the end: it is the region's that made the task, or the task is gone by now.
        if (top >= Words.get(ends, BOTTOM) || !thief.isInRegion()) {
            return null;
        }
        Task task = (Task) TASKS.getAcquire(ring, (int) top & CAPACITY - 1);
        return Words.compareAndSet(ends, TOP, top, top + 1) ? task : null;
    }
}
