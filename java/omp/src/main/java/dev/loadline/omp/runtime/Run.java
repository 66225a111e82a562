package dev.loadline.omp.runtime;

import java.util.List;

/** Where compiled directives enter the runtime, and what says who a thread is. */
public final class Run {
    private static final ThreadLocal<Current> CURRENT = ThreadLocal.withInitial(Current::new);

    /** As whom a thread of the program's own runs at the moment. */
    private static final class Current {
        Member member = Member.alone();
    }

    private Run() {}

    /**
     * Runs a parallel region.
     *
     * @param site directive and place, for traces
     * @param requested threads by {@code num_threads}; 0 without
     * @param active the {@code if} clause
     * @param body the region
     * @return the team, which still holds what its members reduced
     */
    public static Team parallel(String site, int requested, boolean active, Region body) {
        if (requested < 0) {
            throw new IllegalArgumentException("num_threads is " + requested + "; it must be at least 1");
        }
        if (Thread.currentThread() instanceof TeamThread thread) {
            Member outer = thread.current;
            Team team = outer.nested();
            thread.current = team.master();
            team.asks(active ? requested : 1);
            try {
                return team.run(outer.sizeOfNext(requested, active), site, body);
            } finally {
                thread.current = outer;
            }
        }
        Current current = CURRENT.get();
        Member outer = current.member;
        Team team = outer.nested();
        current.member = team.master();
        team.asks(active ? requested : 1);
        try {
            return team.run(outer.sizeOfNext(requested, active), site, body);
        } finally {
            current.member = outer;
        }
    }

    /**
     * Who runs the current code: for directives outside the text of their region.
     *
     * @return the current thread's place in the innermost team
     */
    public static Member member() {
        return Thread.currentThread() instanceof TeamThread thread ? thread.current : CURRENT.get().member;
    }

    /** @return the CPUs at hand, asked now */
    public static int cpus() {
        return Cpus.ask();
    }

    /** Runs code as another member: a task of an outer team's that a nested team's wait picked up. */
    static void as(Member member, Task task) throws Throwable {
        Task interrupted = member.task;
        member.task = task;
        try {
            task.code.run(member);
        } finally {
            member.task = interrupted;
        }
    }

    /**
     * Tells javac that the region before it may throw this: regions throw what their code throws.
     *
     * @param <E> the exception
     * @throws E never here
     */
    public static <E extends Throwable> void mayThrow() throws E {}

    /**
     * Where a region always throws, and so nothing after it is reached.
     *
     * @return never
     */
    public static Error unreachable() {
        return new AssertionError("a region that always throws came to its end");
    }

    /**
     * The elements of a list, in any order of access.
     *
     * @param elements what to run over
     * @param <T> of the elements
     * @return a list with quick access by index
     */
    public static <T> List<T> list(Iterable<T> elements) {
        return Loops.list(elements);
    }

    /** Throws anything without declaring it. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException sneak(Throwable e) throws E {
        throw (E) e;
    }
}
