package dev.loadline.omp.runtime;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * One place in a team. A region's code gets the member that runs it, and every directive in it is a
 * call on that member, by the thread that runs as it; what loops need is in {@link LoopMember}.
 */
public final class Member extends LoopMember {
    /** Variables that one directive can reduce, or copy to the others. */
    public static final int MOST_REDUCED = 14;

    static final long AWAKE = 0;
    static final long ASLEEP = 1;
    static final long GONE = 2;
    /** In place of a fork: the thread shall end. */
    static final long RETIRE = -1;

    // Lines of this member's words.
    private static final int ARRIVED = Words.line(0); // a ticket; then DONE and what it reduces, in the same line
    private static final int DONE = ARRIVED + 1;
    private static final int REDUCED = ARRIVED + 2;
    private static final int STATE = Words.line(1);
    private static final int FLAGS = 2; // and what follows: one line per round of the barrier
    private static final int ROUNDS = 10; // 2^10 threads

    // How a wait behaves.
    private static final int CANCELLABLE = 1;
    private static final int HELPFUL = 2;

    /** Nobody says when a task that another member runs has ended or has made more: look every so often. */
    private static final long TASK_POLL_NS = 50_000;

    private final long[] words = Words.lines(FLAGS + ROUNDS);
    private final Object[] references = new Object[MOST_REDUCED];
    private Thread thread;
    private Throwable failure;
    private int patience = Waiting.LEAST_SPINS;
    private int waits;
    private Team nested;

    /** Ticket of the last barrier or reduction; begins anew, and higher, with each region. */
    private long phase;

    TaskDeque deque;
    Task task;
    /** Team size set by the program; 0 if it did not. */
    int wanted;

    Member(Team team, int number) {
        super(team, number);
        words[STATE] = number == 0 ? AWAKE : GONE;
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
        if (task == null || task.hasChildren()) {
            task = new Task(null, null);
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

    /** How large the region becomes that this member is about to fork. */
    int sizeOfNext(int requested, boolean active) {
        if (!active || team.activeLevels() >= Controls.maxActiveLevels()) {
            return 1;
        }
        int cpus = nested.cpusAtHand();
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
        return sizeOfNext(0, true);
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

    // ---- sleeping and waking ----

    long state() {
        return Words.get(words, STATE);
    }

    /** Wakes this member if it sleeps; false if its thread is gone. */
    boolean wake() {
        if (Words.compareAndSet(words, STATE, ASLEEP, AWAKE)) {
            LockSupport.unpark(thread);
        }
        return state() != GONE;
    }

    void start(long seen) {
        Words.set(words, STATE, AWAKE);
        new TeamThread(this, seen).start();
    }

    void retire() {
        Words.set(words, STATE, GONE);
    }

    private void tell(int index, long ticket) {
        Words.set(words, index, ticket);
        if (Words.get(words, STATE) == ASLEEP) {
            wake();
        }
    }

    /** Sleeps until {@link #wake()}, unless there is reason not to; at most for a time, if that is not 0. */
    private void sleep(BooleanSupplier reason, long atMostNs) {
        thread = Thread.currentThread();
        boolean interrupted = Thread.interrupted(); // it would not let us sleep
        Words.set(words, STATE, ASLEEP);
        if (!reason.getAsBoolean()) {
            if (atMostNs == 0) {
                LockSupport.park(team);
            } else {
                LockSupport.parkNanos(team, atMostNs);
            }
        }
        Words.compareAndSet(words, STATE, ASLEEP, AWAKE);
        if (interrupted) {
            thread.interrupt();
        }
    }

    /** How often to look before giving the CPU away: fewer when it was in vain, and now and then in full again. */
    private int spins() {
        int limit = team.spin;
        return (++waits & Waiting.PROBE) == 0 ? limit : Math.min(limit, patience);
    }

    private void cameInTime() {
        if (patience < team.spin) {
            patience = patience << 1;
        }
    }

    /** Waits until a word has come to a ticket. */
    private void await(long[] polled, int index, long ticket, int mode) {
        for (int spins = spins(); spins >= 0; spins--) {
            if (Words.reached(Words.get(polled, index), ticket)) {
                cameInTime();
                return;
            }
            if ((spins & 63) == 1) {
                disturb(mode);
            }
            Thread.onSpinWait();
        }
        patience = Math.max(Waiting.LEAST_SPINS, patience >> 1);
        awaitSlowly(() -> Words.reached(Words.get(polled, index), ticket), mode);
    }

    private void awaitSlowly(BooleanSupplier reached, int mode) {
        for (int yields = 0; !reached.getAsBoolean(); yields++) {
            disturb(mode);
            boolean helpful = (mode & HELPFUL) != 0;
            boolean cancellable = (mode & CANCELLABLE) != 0;
            if (yields < Waiting.yields(team.spin)) {
                Thread.yield();
            } else if (helpful && team.tasks.get() != 0) {
                LockSupport.parkNanos(team, TASK_POLL_NS);
            } else {
                sleep(() -> reached.getAsBoolean() || cancellable && team.cancelled || helpful && team.tasks.get() != 0, 0);
            }
        }
    }

    /** What a waiter does meanwhile: leave, or help. */
    private void disturb(int mode) {
        if ((mode & CANCELLABLE) != 0 && team.cancelled) {
            throw Cancelled.INSTANCE;
        }
        if ((mode & HELPFUL) != 0 && team.tasks.get() != 0) {
            team.runTask(this);
        }
    }

    /** A worker's wait for the next region: the fork cell's word, or {@link #RETIRE}. */
    long awaitFork(long seen) {
        ForkCell cell = team.cell;
        for (int spins = spins(); spins >= 0; spins--) {
            long word = cell.word();
            if (word != seen && includesMe(word)) {
                cameInTime();
                return word;
            }
            if ((spins & 63) == 1) {
                disturb(HELPFUL);
            }
            Thread.onSpinWait();
        }
        patience = Math.max(Waiting.LEAST_SPINS, patience >> 1);
        BooleanSupplier ready = () -> cell.word() != seen && includesMe(cell.word()) || team.tasks.get() != 0;
        for (int yields = 0; ; yields++) {
            long word = cell.word();
            if (word != seen && includesMe(word)) {
                return word;
            }
            disturb(HELPFUL);
            if (yields < Waiting.yields(team.spin)) {
                Thread.yield();
            } else if (team.tasks.get() != 0) {
                LockSupport.parkNanos(team, TASK_POLL_NS);
            } else {
                long since = System.nanoTime();
                sleep(ready, Waiting.RETIRE_NS);
                boolean idle = System.nanoTime() - since >= Waiting.RETIRE_NS && !ready.getAsBoolean();
                if (idle && retires(seen)) {
                    return RETIRE;
                }
            }
        }
    }

    private boolean includesMe(long word) {
        return number < ForkCell.size(word);
    }

    /** Ends this thread's service, unless the master forks just now. */
    private boolean retires(long seen) {
        Words.set(words, STATE, ASLEEP);
        long word = team.cell.word();
        if (word != seen && includesMe(word)) {
            Words.set(words, STATE, AWAKE);
            return false;
        }
        return Words.compareAndSet(words, STATE, ASLEEP, GONE);
    }

    /** A worker came to the end of the region, and so did those below it in the tree. */
    void done(long sequence) {
        int n = team.size;
        awaitChildren(DONE, sequence, n, 0);
        Words.set(words, DONE, sequence);
        Member parent = team.members[(number - 1) / Team.FAN_IN];
        if (parent.state() == ASLEEP) {
            parent.wake();
        }
    }

    /** The master waits for all others. */
    void awaitDone(long sequence) {
        awaitChildren(DONE, sequence, team.size, HELPFUL);
    }

    private void awaitChildren(int index, long ticket, int n, int mode) {
        int first = number * Team.FAN_IN + 1;
        for (int child = first; child < Math.min(n, first + Team.FAN_IN); child++) {
            await(team.members[child].words, index, ticket, mode);
        }
    }

    // ---- synchronization ----

    /** Waits until all members came here and all tasks are done. */
    public void barrier() {
        Team team = this.team;
        int n = team.size;
        if (n > 1) {
            Trace.state(Trace.SYNCH);
            long ticket = ++phase;
            Member[] members = team.members;
            int round = Words.line(FLAGS);
            for (int distance = 1; distance < n; distance <<= 1, round += Words.STRIDE) {
                int to = number + distance;
                members[to < n ? to : to - n].tell(round, ticket);
                await(words, round, ticket, CANCELLABLE | HELPFUL);
            }
            constructsAtBarrier = constructs;
            Trace.state(Trace.RUN);
        }
        if (team.tasks.get() != 0) {
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
        Member parent = team.members[(number - 1) / Team.FAN_IN];
        if (parent.state() == ASLEEP) {
            parent.wake();
        }
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
        if (team.tasks.get() != 0) {
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
                Run.as(this, new Task(code, task));
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
        Task made = new Task(code, task);
        task.childBegins();
        team.tasks.incrementAndGet();
        if (deque.push(made)) {
            team.wakeAll();
        } else {
            execute(made);
        }
    }

    void execute(Task made) {
        try {
            if (!team.cancelled) {
                Run.as(this, made);
            }
        } catch (Throwable e) {
            fail(e);
        } finally {
            made.parent.childEnds();
            team.tasks.decrementAndGet();
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
        for (int idle = 0; team.tasks.get() != 0; idle++) {
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

    private void pause(int idle) {
        if (idle < team.spin) {
            Thread.onSpinWait();
        } else if (idle < team.spin + Waiting.yields(0)) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(team, TASK_POLL_NS);
        }
    }
}
