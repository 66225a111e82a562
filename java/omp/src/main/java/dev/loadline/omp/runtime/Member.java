package dev.loadline.omp.runtime;

/**
 * One place in a team. A region's code gets the member that runs it, and every directive in it is a
 * call on that member, by the thread that runs as it; what loops need is in {@link LoopMember}.
 */
public final class Member extends LoopMember {
    /** Variables that one directive can reduce, or copy to the others. */
    public static final int MOST_REDUCED = 14;

    /** Regions that begin closer to each other than this need no look at the clock each, but one in so many. */
    private static final long SHORT_NS = 2_000;
    private static final int MOST_UNCLOCKED = 7;

    private final Object[] references = new Object[MOST_REDUCED];
    private Throwable failure;
    private Team nested;
    /** The construct that this member is in, as a recording sees it; null without the API. */
    private AutoCloseable construct;
    /** Of the master: number of the next region. Here, because workers read what is in the team. */
    long sequence = 1;
    /** Of the master: regions since it looked at the clock, when that was, and how many may go by without. */
    private int unclocked;
    private int mayGoUnclocked;
    private long clockNs;

    /** Ticket of the last barrier or reduction; begins anew, and higher, with each region. */
    private long phase;

    TaskDeque deque;
    Task task;
    /** Team size set by the program; 0 if it did not. */
    int wanted;

    Member(Team team, int number) {
        super(team, number);
    }

    /** A new team of one, for a thread that met no region yet. */
    static Member alone() {
        Member member = new Team(null).master();
        member.begin(1);
        return member;
    }

    // ---- regions ----

    void begin(long sequence) {
        phase = sequence << 20;
        constructs = sequence * Team.RING;
        constructsAtBarrier = constructs;
        wanted = 0;
        joinable = false;
        if (task == null || task.hasChildren()) {
            task = new Task(null, null, this);
        }
    }

    /** A sequence number above all that this member used tickets of. */
    long sequenceAfter() {
        return Math.max(phase >>> 20, constructs / Team.RING) + 1;
    }

    Team nested() {
        if (nested == null) {
            nested = new Team(this);
        }
        return nested;
    }

    /** Whether regions have been so short that the next one needs no look at the clock; counts it if so. */
    boolean leavesOutClock() {
        if (unclocked >= mayGoUnclocked) {
            return false;
        }
        unclocked++;
        return true;
    }

    /** The master looked at the clock. */
    void sawClock(long nowNs) {
        mayGoUnclocked = nowNs - clockNs < SHORT_NS * (unclocked + 1) ? MOST_UNCLOCKED : 0;
        unclocked = 0;
        clockNs = nowNs;
    }

    /** How large the region becomes that this member is about to fork. */
    int sizeOfNext(int requested, boolean active) {
        return active && mayFork() ? size(requested, nested.cpusOfNext()) : 1;
    }

    /** How large that region were as the CPUs are now: for who begins none, or is in it. */
    int sizeNow(int requested) {
        return mayFork() ? size(requested, nested.cpusToUse(System.nanoTime())) : 1;
    }

    private boolean mayFork() {
        return team.activeLevels() < Controls.maxActiveLevels();
    }

    private int size(int requested, int cpus) {
        return Controls.size(requested != 0 ? requested : wanted(), cpus, team.around(), Controls.dynamic(), Settings.OF_PROCESS.threadLimit());
    }

    /** What the program or the environment wants for the next region; 0 if neither says. */
    private int wanted() {
        for (Member m = this; m != null; m = m.team.outer) {
            if (m.wanted > 0) {
                return m.wanted;
            }
        }
        var sizes = Settings.OF_PROCESS.numThreads();
        return sizes.isEmpty() ? 0 : sizes.get(Math.min(team.level, sizes.size() - 1));
    }

    /** @param threads what the program wants for its next regions */
    public void wanted(int threads) {
        wanted = threads;
    }

    /** @return how large a region would become that began here */
    public int maxThreads() {
        nested();
        return sizeNow(0);
    }

    /** @return regions around this one, itself included */
    public int level() {
        return team.level;
    }

    /** @return the same, counting only those with more than one thread */
    public int activeLevels() {
        return team.activeLevels();
    }

    void fail(Throwable e) {
        if (e != Cancelled.INSTANCE) {
            if (failure == null) {
                failure = e;
            } else if (failure != e) {
                failure.addSuppressed(e);
            }
        }
        team.cancel();
    }

    Throwable takeFailure() {
        Throwable taken = failure;
        failure = null;
        return taken;
    }

    /** A worker came to the end of the region, and so did those below it in the tree. */
    void done(long sequence) {
        awaitChildren(DONE, sequence, team.forked, 0);
        Words.set(words, DONE, sequence);
        wakeIfAsleep(number < team.forked ? (number - 1) / Team.FAN_IN : 0);
    }

    /** The master waits for all others. */
    void awaitDone(long sequence) {
        awaitChildren(DONE, sequence, team.forked, HELPFUL);
        for (int late = team.forked; late < team.size; late++) {
            await(team.words[late], DONE, sequence, HELPFUL);
        }
    }

    private void awaitChildren(int index, long ticket, int n, int mode) {
        int first = number * Team.FAN_IN + 1;
        for (int child = first; child < Math.min(n, first + Team.FAN_IN); child++) {
            await(team.words[child], index, ticket, mode);
        }
    }

    // ---- what recordings show ----

    /**
     * Comes to a work-sharing or synchronization construct.
     *
     * @param site directive and place
     */
    public void comes(String site) {
        AutoCloseable begun = Trace.begin(site);
        if (construct != begun) {
            Trace.end(construct); // of a construct that was left by an exception
            construct = begun;
        }
    }

    /** Leaves it. */
    public void goes() {
        Trace.end(construct);
    }

    // ---- synchronization ----

    /** Waits until all members came here and all tasks are done. */
    public void barrier() {
        Team team = this.team;
        int n = team.size;
        if (n > 1) {
            Trace.state(Trace.SYNCH);
            long ticket = ++phase;
            long[][] all = team.words;
            int round = Words.line(FLAGS);
            for (int distance = 1; distance < n; distance <<= 1, round += Words.STRIDE) {
                int to = number + distance;
                to = to < n ? to : to - n;
                Words.set(all[to], round, ticket);
                wakeIfAsleep(to);
                await(words, round, ticket, CANCELLABLE | HELPFUL);
            }
            constructsAtBarrier = constructs;
            Trace.state(Trace.RUN);
        }
        if (team.hasTasks()) {
            finishTasks(true);
        }
    }

    /** @return whether this is the team's master */
    public boolean isMaster() {
        return number == 0;
    }

    /** @return the thread number */
    public int number() {
        return number;
    }

    /** @return the team size */
    public int size() {
        return team.size;
    }

    @Override
    void awaitTurn(long[] polled, int index, long ticket) {
        Trace.state(Trace.SYNCH);
        await(polled, index, ticket, CANCELLABLE);
        Trace.state(Trace.RUN);
    }

    // ---- reductions ----

    /**
     * Offers a value to the reduction.
     *
     * @param k which
     * @param value this member's part
     */
    public void put(int k, long value) {
        words[REDUCED + k] = value;
    }

    /**
     * Offers a value to the reduction.
     *
     * @param k which
     * @param value this member's part
     */
    public void put(int k, double value) {
        words[REDUCED + k] = Double.doubleToRawLongBits(value);
    }

    /**
     * Offers a value to the reduction.
     *
     * @param k which
     * @param value this member's part
     */
    public void putRef(int k, Object value) {
        references[k] = value;
    }

    long getLong(int k) {
        return words[REDUCED + k];
    }

    /** What another member put, for all to read. */
    Object ofOther(int member, int k) {
        return team.members[member].references[k];
    }

    Object takeRef(int k) {
        Object value = references[k];
        references[k] = null;
        return value;
    }

    /**
     * Comes to a reduction with all that was put.
     *
     * @return true for the root, when all have come: it combines, and then releases the others
     */
    public boolean gather() {
        int n = team.size;
        if (n == 1) {
            return true;
        }
        Trace.state(Trace.SYNCH);
        phase++;
        awaitChildren(ARRIVED, phase, n, CANCELLABLE);
        if (number == 0) {
            Trace.state(Trace.OVERHEAD);
            return true;
        }
        Words.set(words, ARRIVED, phase);
        wakeIfAsleep((number - 1) / Team.FAN_IN);
        return false;
    }

    /** Ends what {@link #gather()} began: the root lets the others go, they wait for it. */
    public void release() {
        if (team.size > 1) {
            if (number == 0) {
                Words.set(team.release, Words.line(0), phase);
                team.wakeAll();
            } else {
                await(team.release, Words.line(0), phase, CANCELLABLE);
            }
            constructsAtBarrier = constructs;
            Trace.state(Trace.RUN);
        }
        if (team.hasTasks()) {
            finishTasks(true);
        }
    }

    /** @return the team, whose members' parts the root reads */
    public Team team() {
        return team;
    }

    /**
     * Keeps a value for the others, before a barrier.
     *
     * @param k which
     * @param value what
     */
    public void publish(int k, Object value) {
        team.broadcast[k] = value;
    }

    /**
     * What another member kept, after the barrier.
     *
     * @param k which
     * @param <T> its type
     * @return the value
     */
    @SuppressWarnings("unchecked") // the directive that published it receives it
    public <T> T receive(int k) {
        return (T) team.broadcast[k];
    }

    // ---- tasks ----

    /**
     * Makes a task, which any member runs at some time before the next barrier.
     *
     * @param deferrable the {@code if} clause: otherwise it is run at once
     * @param code what it does; what it throws is thrown at once if it is run at once
     */
    public void task(boolean deferrable, Region code) {
        if (team.size == 1 || !deferrable) {
            try {
                Run.as(this, new Task(code, task, this));
            } catch (Throwable e) {
                throw Run.sneak(e);
            }
            return;
        }
        if (team.cancelled) {
            throw Cancelled.INSTANCE;
        }
        if (deque == null) {
            deque = new TaskDeque();
        }
        Task made = new Task(code, task, this);
        task.childBegins();
        team.expectTasks();
        count(TASKS_MADE);
        if (deque.push(made)) {
            team.wakeAll();
        } else {
            execute(made);
        }
    }

    /** Counts in this member's own words: no other thread writes there. */
    private void count(int what) {
        Words.publish(words, what, words[what] + 1);
    }

    void execute(Task made) {
        try {
            if (!team.cancelled) {
                Run.as(this, made);
            }
        } catch (Throwable e) {
            fail(e);
        } finally {
            made.ended(this);
            count(TASKS_RUN);
        }
    }

    /** Waits for the tasks that the current task made, and helps meanwhile. */
    public void taskwait() {
        Task waiting = task;
        for (int idle = 0; waiting.hasChildren(); idle++) {
            if (team.runTask(this)) {
                idle = 0;
            } else {
                pause(idle);
            }
        }
        if (team.cancelled) {
            throw Cancelled.INSTANCE;
        }
    }

    /** Helps until no task is left. */
    void finishTasks(boolean cancellable) {
        for (int idle = 0; team.hasTasks(); idle++) {
            if (team.runTask(this)) {
                idle = 0;
            } else {
                pause(idle);
            }
        }
        if (cancellable && team.cancelled) {
            throw Cancelled.INSTANCE;
        }
    }
}
