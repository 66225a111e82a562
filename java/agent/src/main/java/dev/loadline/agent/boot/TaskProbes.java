package dev.loadline.agent.boot;

/** Called from executors and from what they run: a task that is made in the midst of a visit is one to the same connection. */
public final class TaskProbes {
    /** The unit of how long before a task the first one of its request was made, as a shift of ns. */
    private static final int ROOT_UNIT = 10;

    /** Made when there is the first task. A race makes two, and one forgets a task. */
    private static volatile Identities carried;

    private TaskProbes() {}

    /**
     * A task is made in the midst of a visit, by who leaves what it visited for to others. One that waits for its tasks
     * goes on with its request itself. An object that is given to executors again and again runs who knows whose
     * tasks: only its first run is told.
     */
    public static void carry(Object task) {
        Visit visit = visitThatIsLeft();
        if (visit != null && carried.entry(task) == null) {
            carried.put(task, new Task(task, visit));
        }
    }

    /** The same where an object runs once for each time that it is given, though for another request perhaps: event loops use theirs again. */
    public static void carryAgain(Object task) {
        Visit visit = visitThatIsLeft();
        if (visit != null) {
            carried.put(task, new Task(task, visit));
        }
    }

    /** The visit that the current thread is in, if it leaves what it visits for to others; then tasks are remembered. */
    private static Visit visitThatIsLeft() {
        Session s = Emit.server();
        Visit visit = s == null ? null : Visit.current();
        if (visit == null || !visit.leaves || Visit.epoch(visit.id) != s.epoch) {
            return null;
        }
        if (carried == null) {
            carried = new Identities();
        }
        return visit;
    }

    private static Task known(Object task) {
        Identities all = Emit.server() == null ? null : carried;
        return all == null ? null : (Task) all.entry(task);
    }

    /** Such a task is run: a visit to the connection that it was made for; 0 if it is not known. */
    public static long runBegin(Object task) {
        Task known = known(task);
        return known == null ? 0 : visitBegin(known);
    }

    private static long visitBegin(Task task) {
        Session s = Emit.server();
        int since = (int) Math.min(task.made - task.root >>> ROOT_UNIT, Integer.MAX_VALUE);
        long visit = s == null ? 0 : ServerProbes.visitBegin(s, task.value, task.made, since);
        if (visit != 0) {
            Visit own = Visit.own();
            own.leaves = true;
            own.root = task.root;
        }
        return visit;
    }

    /** An executor is about to run a task; {@link #ends} follows. */
    public static void begins(Object task) {
        Task known = known(task);
        if (known != null && !known.wasRun) {
            known.wasRun = true;
            long visit = visitBegin(known);
            if (visit != 0) {
                Visit.own().task = visit;
            }
        }
    }

    /** The executor has run whatever task it was about to. */
    public static void ends() {
        if (carried == null) {
            return;
        }
        Visit visit = Visit.own();
        long id = visit.task;
        if (id != 0) {
            visit.task = 0;
            ServerProbes.visitEnd(id);
        }
    }

    /** What is remembered of a task, beside its connection's key. */
    private static final class Task extends Identities.Entry {
        final long made;
        /** When the first task of the request was made that it is a task's task of: that request had begun then, and perhaps is over now. */
        final long root;
        /** An executor has run it. */
        boolean wasRun;

        Task(Object task, Visit visit) {
            super(task, (int) (visit.id & Visit.KEY));
            made = System.nanoTime();
            root = visit.root == 0 ? made : visit.root;
        }
    }
}
