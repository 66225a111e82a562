package dev.loadline.omp.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One explicit task, or (without code) the implicit task that a member's region code is.
 *
 * <p>A task stays with the thread that began it, so that it alone counts the children that it makes, and
 * those that it runs itself: most of them. Only what a thief ran is counted atomically.
 */
final class Task {
    private static final VarHandle ENDED_ELSEWHERE;

    static {
        try {
            ENDED_ELSEWHERE = MethodHandles.lookup().findVarHandle(Task.class, "endedElsewhere", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Region code;
    final Task parent;
    /** Who made it, and runs its parent. */
    final Member maker;
    /** Children made, less those that ended, by the thread that runs this task. */
    private int children;
    private int endedElsewhere;

    Task(Region code, Task parent, Member maker) {
        this.code = code;
        this.parent = parent;
        this.maker = maker;
    }

    /** To be called by the thread that runs this task. */
    void childBegins() {
        children++;
    }

    /** This task, which was deferred, ended. */
    void ended(Member by) {
        if (by == maker) {
            parent.children--;
        } else {
            ENDED_ELSEWHERE.getAndAdd(parent, 1);
        }
    }

    /** To be called by the thread that runs this task. */
    boolean hasChildren() {
        return children != (int) ENDED_ELSEWHERE.getAcquire(this);
    }
}
