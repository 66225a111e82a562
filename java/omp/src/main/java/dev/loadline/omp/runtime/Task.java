package dev.loadline.omp.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** One explicit task, or (without code) the implicit task that a member's region code is. */
final class Task {
    private static final VarHandle CHILDREN;

    static {
        try {
            CHILDREN = MethodHandles.lookup().findVarHandle(Task.class, "children", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Region code;
    final Task parent;
    private int children;

    Task(Region code, Task parent) {
        this.code = code;
        this.parent = parent;
    }

    void childBegins() {
        CHILDREN.getAndAdd(this, 1);
    }

    void childEnds() {
        CHILDREN.getAndAdd(this, -1);
    }

    boolean hasChildren() {
        return (int) CHILDREN.getAcquire(this) != 0;
    }
}
