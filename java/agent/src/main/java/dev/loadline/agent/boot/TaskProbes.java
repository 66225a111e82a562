package dev.loadline.agent.boot;

/** Called from executors and from what they run: a task that is made in the midst of a visit is one to the same connection. */
public final class TaskProbes {
    /** Of what is remembered of a task, beside the connection's key: an executor has run it. */
    private static final long WAS_RUN = 1L << 31;
    /** The unit of when it was made, of which 32 bits are remembered: an hour, in microseconds of 1024 ns. */
    private static final int MADE_UNIT = 10;

    private static final int MADE_SHIFT = 32;

    /** Of tasks, when they were made and the connection's key; made when there is the first. A race makes two, and one forgets a task. */
    private static volatile Identities carried;

    private TaskProbes() {}

    /**
     * A task is made in the midst of a visit, by who leaves what it visited for to others. One that waits for its tasks
     * goes on with its request itself. An object that is given to executors again and again runs who knows whose
     * tasks: only its first run is told.
     */
    public static void carry(Object task) {
        Visit visit = visitThatIsLeft();
        if (visit != null && carried.get(task) == 0) {
            carried.put(task, made(visit));
        }
    }

    /** The same where an object runs once for each time that it is given, though for another request perhaps: event loops use theirs again. */
    public static void carryAgain(Object task) {
        Visit visit = visitThatIsLeft();
        if (visit != null) {
            carried.put(task, made(visit));
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

    /** What is remembered of a task that is made now. */
    private static long made(Visit visit) {
        return System.nanoTime() >>> MADE_UNIT << MADE_SHIFT | visit.id & Visit.KEY;
    }

    /** Such a task is run: a visit to the connection that it was made for; 0 if it is not known. */
    public static long runBegin(Object task) {
        Session s = Emit.server();
        Identities known = carried;
        return s == null || known == null ? 0 : runBegin(s, known.get(task));
    }

    private static long runBegin(Session s, long task) {
        long key = task & Visit.KEY;
        if (key == 0) {
            return 0;
        }
        long now = System.nanoTime();
        long age = (now >>> MADE_UNIT) - (task >>> MADE_SHIFT) & 0xFFFF_FFFFL;
        // Never before it was made, when the request had begun: up to two units later.
        long visit = ServerProbes.visitBegin(s, key, Math.min(now, now - (age - 1 << MADE_UNIT)));
        if (visit != 0) {
            Visit.own().leaves = true;
        }
        return visit;
    }

    /** An executor is about to run a task; {@link #ends} follows. */
    public static void begins(Object task) {
        Session s = Emit.server();
        Identities known = carried;
        long made = s == null || known == null ? 0 : known.get(task);
        if (made != 0 && (made & WAS_RUN) == 0) {
            known.put(task, made | WAS_RUN);
            long visit = runBegin(s, made);
            if (visit != 0) {
                Visit.own().task = visit;
            }
        }
    }

    /** The executor has run whatever task it was about to. */
    public static void ends() {
        Visit visit = carried == null ? null : Visit.known();
        if (visit != null && visit.task != 0) {
            long id = visit.task;
            visit.task = 0;
            ServerProbes.visitEnd(id);
        }
    }
}
