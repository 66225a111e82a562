package dev.loadline.omp.runtime;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The hot team of one master at one nesting level: its places, and what they share. Forks and joins
 * go through here; what members do among themselves is in {@link Member}.
 */
public final class Team {
    /** Work-sharing constructs that can be open at once, because of {@code nowait}; a power of two. */
    static final int RING = 64;
    /** In a slot of the ring: which construct, above; the next chunk, below. */
    static final int INDEX_BITS = 28;
    /** Children of a place in the tree through which arrivals are gathered. */
    static final int FAN_IN = 4;

    private static final AtomicLong TEAMS = new AtomicLong();

    final long id = TEAMS.getAndIncrement();
    /** Who owns this team; null for the team of one in which every thread begins. */
    final Member outer;
    final int level;
    final ForkCell cell = new ForkCell();
    /** One line per open construct. */
    final long[] slots = Words.lines(RING);
    /** Line 0: the ticket up to which the root released those who gathered. */
    final long[] release = Words.lines(1);
    /** Whether the region made a task: most make none, and their members need not count. */
    private volatile boolean expectsTasks;
    final Object[] broadcast = new Object[Member.MOST_REDUCED];

    Member[] members;
    /**
     * The members' words, by their numbers: what others poll and write. Nobody writes here while regions
     * run, whereas a member's own fields are written at each wait, and would take this with them.
     */
    long[][] words;
    /** Size of the current or last region; written by the master, only when it changes. */
    int size = 1;
    /** Size with which that region began: whom the tree of arrivals holds. Others came later. */
    int forked = 1;
    /** Threads that the region's directive asks for; 0 if it does not say. */
    int requested;
    /** How often a waiter looks before it yields; 0 when the team does not fit the CPUs. */
    int spin;
    /** A member threw: the others shall leave. */
    volatile boolean cancelled;

    private int cpus;
    private long askedAtNs;
    /** What other programs leave of the CPUs. */
    private int left = Integer.MAX_VALUE;
    private final CpuWatch watch = Cpus.isGiven() ? null : new CpuWatch(this);

    Team(Member outer) {
        this.outer = outer;
        this.level = outer == null ? 0 : outer.team.level + 1;
        this.members = new Member[] {new Member(this, 0)};
        this.words = new long[][] {members[0].words};
        this.askedAtNs = System.nanoTime() - Cpus.FRESH_NS;
    }

    Member master() {
        return members[0];
    }

    /** Threads among whom the CPUs are shared when a member of this team forks. */
    int around() {
        int threads = size;
        for (Member m = outer; m != null; m = m.team.outer) {
            threads *= m.team.size;
        }
        return threads;
    }

    /** Enclosing regions, this one included, with more than one thread. */
    int activeLevels() {
        int levels = size > 1 ? 1 : 0;
        for (Member m = outer; m != null; m = m.team.outer) {
            levels += m.team.size > 1 ? 1 : 0;
        }
        return levels;
    }

    /** The CPUs, as asked at most a millisecond ago. Several members may race here: each answer is right. */
    int cpusAtHand() {
        return cpusAt(System.nanoTime());
    }

    private int cpusAt(long now) {
        if (now - askedAtNs >= Cpus.FRESH_NS) {
            cpus = Cpus.ask();
            askedAtNs = now;
        }
        return cpus;
    }

    /**
     * The CPUs of the region that the master is about to begin. While regions are short, an answer serves some of
     * them: to look at the clock costs a tenth of a region.
     */
    int cpusOfNext() {
        Member master = members[0];
        if (master.leavesOutClock()) {
            return Controls.dynamic() ? Math.min(cpus, left) : cpus;
        }
        long now = System.nanoTime();
        master.sawClock(now);
        return cpusToUse(now);
    }

    /** The CPUs at hand, and no more than other programs leave; to be asked by the master. */
    int cpusToUse(long now) {
        int limit = watch == null || !Controls.dynamic() ? Integer.MAX_VALUE : watch.limit(now);
        if (left != limit) {
            left = limit;
        }
        return Math.min(cpusAt(now), limit);
    }

    /** Whether this member should leave a loop to the others, because the CPUs became fewer. */
    boolean surplus(int number) {
        return Controls.dynamic() && number >= Math.max(1, cpusAtHand() / outer.team.around());
    }

    /** Notes what the next region's directive asks for. */
    void asks(int threads) {
        if (requested != threads) {
            requested = threads;
        }
    }

    /** Runs one region with so many members and returns when all of them, and their tasks, are done. */
    Team run(int wanted, String site, Region body) {
        AutoCloseable span = Trace.begin(site);
        Trace.push(Trace.OVERHEAD);
        Member master = members[0];
        long sequence = master.sequence;
        try {
            int n = wanted > 1 ? ready(wanted) : 1;
            if (size != n) {
                size = n;
            }
            if (forked != n) {
                forked = n;
            }
            master.begin(sequence);
            if (n > 1) {
                fork(n, sequence, body);
            } else if (wanted == 1 && requested != 1) {
                cell.body = body; // should CPUs come
            }
            Trace.state(Trace.RUN);
            try {
                body.run(master);
            } catch (Throwable e) {
                master.fail(e);
            }
            Trace.state(Trace.SYNCH);
            if (size > 1) {
                master.awaitDone(sequence);
            }
            if (expectsTasks) {
                master.finishTasks(false);
                expectsTasks = false;
            }
            if (cancelled) {
                throw Run.sneak(recover());
            }
            master.sequence = master.sequenceAfter();
            return this;
        } finally {
            Trace.pop();
            Trace.end(span);
        }
    }

    /** Whether a loop of this team may get more members while it runs: if it adapts, and is not to be of one thread. */
    boolean mayGrow() {
        return outer != null && Controls.dynamic() && requested != 1;
    }

    /**
     * Lets more members into the region if CPUs came; by the master, in a region that is one loop and nothing
     * else: they run the region's code from its beginning, and find the loop's next chunk.
     */
    void grow() {
        int wanted = outer.sizeNow(requested);
        int n = wanted > size ? ready(wanted) : size;
        if (n > size) {
            size = n;
            fork(n, members[0].sequence, cell.body);
        }
    }

    private void fork(int n, long sequence, Region body) {
        int limit = Waiting.spins(n * outer.team.around() <= cpus);
        if (spin != limit) {
            spin = limit;
        }
        if (cell.body != body) {
            cell.body = body;
        }
        cell.publish(sequence, n);
        for (int i = 1; i < n; i++) {
            if (Words.get(words[i], Member.STATE) != Member.AWAKE && !members[i].wake()) {
                members[i].start(cell.word() - 1); // it retired a moment ago
            }
        }
    }

    /** Sees to it that so many places exist and have threads; returns how many do. */
    private int ready(int n) {
        if (members.length < n) {
            Member[] more = Arrays.copyOf(members, n);
            long[][] moreWords = Arrays.copyOf(words, n);
            for (int i = members.length; i < n; i++) {
                more[i] = new Member(this, i);
                moreWords[i] = more[i].words;
            }
            VarHandle.releaseFence(); // members of a region that grows may look at once
            members = more;
            words = moreWords;
        }
        for (int i = 1; i < n; i++) {
            if (Words.get(words[i], Member.STATE) == Member.GONE) {
                try {
                    members[i].start(cell.word());
                } catch (OutOfMemoryError e) {
                    members[i].retire();
                    return i; // the system gives no more threads: go on with those that are
                }
            }
        }
        return n;
    }

    /** After a region in which somebody threw: makes the team whole, and says what to throw. */
    private Throwable recover() {
        Throwable first = null;
        for (int i = 0; i < size; i++) {
            Member member = members[i];
            members[0].sequence = Math.max(members[0].sequence, member.sequenceAfter());
            Throwable failure = member.takeFailure();
            if (first == null) {
                first = failure;
            } else if (failure != null && failure != first) {
                first.addSuppressed(failure);
            }
        }
        cancelled = false;
        return first;
    }

    /** Tells everybody to leave the region. */
    void cancel() {
        cancelled = true;
        wakeAll();
    }

    /** Wakes those who sleep; to be called after what they wait for was stored. */
    void wakeAll() {
        for (int i = 0; i < size; i++) {
            members[0].wakeIfAsleep(i);
        }
    }

    /** What a worker's thread does all its life. */
    void serve(Member place, long seen) {
        Trace.state(Trace.IDLE);
        long served = 0;
        for (long word = place.awaitFork(seen); word != Member.RETIRE; word = place.awaitFork(word)) {
            long current = ForkCell.sequence(word);
            if (place.number < ForkCell.size(word) && current != served) { // the same region comes again when it grows
                served = current;
                place.begin(current);
                Trace.state(Trace.RUN);
                try {
                    cell.body.run(place);
                } catch (Throwable e) {
                    place.fail(e);
                }
                Trace.state(Trace.SYNCH);
                place.done(current);
                Trace.state(Trace.IDLE);
            }
        }
    }

    /** A task is about to be made. */
    void expectTasks() {
        if (!expectsTasks) {
            expectsTasks = true;
        }
    }

    /**
     * Whether there are tasks that have not ended. Those that ended are counted before those that were made,
     * and neither count goes back: if they are equal, nothing was left in between.
     */
    boolean hasTasks() {
        if (!expectsTasks) {
            return false;
        }
        long[][] all = words;
        long left = 0;
        for (long[] one : all) {
            left -= Words.get(one, Member.TASKS_RUN);
        }
        for (long[] one : all) {
            left += Words.get(one, Member.TASKS_MADE);
        }
        return left != 0;
    }

    /** Runs one waiting task, as this member; false if there is none. */
    boolean runTask(Member member) {
        Task task = member.deque == null ? null : member.deque.pop();
        int n = members.length;
        for (int i = 1; task == null && i < n; i++) {
            TaskDeque other = members[(member.number + i) % n].deque;
            if (other != null) {
                task = other.steal(member);
            }
        }
        if (task == null) {
            return false;
        }
        member.execute(task);
        return true;
    }

    // ---- what the region's caller reads after the join ----

    /** @return how many members the region had */
    public int size() {
        return size;
    }

    /**
     * @param member whose
     * @param k which
     * @return what it put
     */
    public long getLong(int member, int k) {
        return members[member].getLong(k);
    }

    /**
     * @param member whose
     * @param k which
     * @return what it put
     */
    public double getDouble(int member, int k) {
        return Double.longBitsToDouble(members[member].getLong(k));
    }

    /**
     * @param member whose
     * @param k which
     * @param <T> its type
     * @return what it put
     */
    @SuppressWarnings("unchecked") // the directive that put it reads it
    public <T> T getRef(int member, int k) {
        return (T) members[member].takeRef(k);
    }
}
