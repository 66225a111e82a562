package dev.loadline.omp.runtime;

import dev.loadline.omp.runtime.Schedule.Kind;

/**
 * What a member knows about the work-sharing construct that it is in. Iterations are counted from 0,
 * whatever the program's loop counts; a <em>piece</em> is a run of them that this member got.
 */
public abstract sealed class LoopMember extends WaitingMember permits Member {
    private static final long INDEX_MASK = (1L << Team.INDEX_BITS) - 1;
    /** Chunks of one loop: what the index counts, with room for each member's last, futile claim. */
    private static final long MOST_CHUNKS = 1L << Team.INDEX_BITS - 1;

    /** Members for whom a loop that others may join leaves something over. */
    private static final int EXPECTED = 8;

    /** Constructs met so far that need a slot. */
    long constructs;
    /** The same at the last barrier: all members have left the constructs before it. */
    long constructsAtBarrier;

    private Kind kind;
    private long trips;
    private long chunk;
    private long next;
    private long begin;
    private long end;
    private int slot;
    /** The region is one loop without barriers, and CPUs may come. */
    boolean joinable;
    private int claims;
    private boolean last;

    // Ordered loops: where the turn is kept, and the ordinal of this member's piece.
    private boolean ordered;
    private int turn;
    private long turnBase;
    private long ordinal;
    private boolean passed;

    LoopMember(Team team, int number) {
        super(team, number);
    }

    abstract void awaitTurn(long[] polled, int index, long ticket);

    /** Waits for all members of the team. */
    public abstract void barrier();

    // ---- constructs ----

    /** Opens the next construct's slot, as the first of the team or after others. */
    private int open() {
        if (constructs - constructsAtBarrier >= Team.RING) {
            barrier(); // the slot may still be in use; all members are at this point, so all wait here
        }
        long construct = constructs++;
        int index = Words.line((int) construct & Team.RING - 1);
        long fresh = construct / Team.RING << Team.INDEX_BITS;
        long found = Words.get(team.slots, index);
        if ((found & ~INDEX_MASK) != fresh) {
            Words.compareAndSet(team.slots, index, found, fresh); // if it fails, another opened it
        }
        return index;
    }

    /**
     * Comes to a {@code single}.
     *
     * @return whether this member runs it
     */
    public boolean single() {
        if (team.size == 1) {
            return true;
        }
        int index = open();
        return (Words.get(team.slots, index) & INDEX_MASK) == 0
                && (Words.getAndAdd(team.slots, index, 1) & INDEX_MASK) == 0;
    }

    // ---- loops ----

    /**
     * Says that the loop to which this member comes next is all there is in the region, so that more members
     * may join it when CPUs come.
     */
    public void joinable() {
        joinable = team.mayGrow();
    }

    /**
     * Comes to a loop that is dealt out in one block per member.
     *
     * @param trips iterations
     */
    public void loopStatic(long trips) {
        loop(Kind.STATIC, trips, 0);
    }

    /**
     * Comes to a loop.
     *
     * @param kind how it is dealt out
     * @param trips iterations
     * @param chunk iterations per piece, at least 1; 0 where the kind decides
     */
    public void loop(Kind kind, long trips, long chunk) {
        if (chunk < 0) {
            throw new IllegalArgumentException("the chunk of a schedule is " + chunk + "; it must be at least 1");
        }
        this.kind = kind;
        this.trips = trips;
        this.chunk = chunk;
        this.last = false;
        this.next = kind == Kind.STATIC && chunk > 0 ? number : 0;
        if (kind == Kind.STATIC) {
            joinable = false;
        } else if (team.size > 1 || joinable) {
            this.chunk = Math.max(Math.max(1, chunk), trips / MOST_CHUNKS + 1);
            this.slot = open();
        }
    }

    /**
     * Comes to a loop whose schedule was left to the user.
     *
     * @param trips iterations
     */
    public void loopRuntime(long trips) {
        Schedule schedule = Controls.schedule();
        loop(schedule.kind(), trips, schedule.chunk());
    }

    /** Says that the loop just come to has {@code ordered} parts. Every piece then has an ordinal. */
    public void ordered() {
        ordered = team.size > 1;
        if (ordered) {
            if (kind == Kind.GUIDED) {
                kind = Kind.DYNAMIC; // a guided piece does not know how many came before it
            }
            turn = open();
            turnBase = Words.get(team.slots, turn) & ~INDEX_MASK;
            passed = true;
        }
    }

    /**
     * Takes the next piece.
     *
     * @return false if there is none for this member
     */
    public boolean chunk() {
        if (ordered) {
            passTurn();
        }
        boolean got = team.size == 1 ? joinable ? guided() : whole() : switch (kind) {
            case STATIC -> chunk == 0 ? block() : inTurn();
            case DYNAMIC -> dynamic();
            case GUIDED -> guided();
        };
        if (got) {
            passed = false;
            last |= end == trips;
        } else {
            ordered = false;
        }
        return got;
    }

    private boolean whole() {
        begin = 0;
        end = trips;
        return trips > 0 && next++ == 0;
    }

    private boolean block() {
        if (next++ != 0) {
            return false;
        }
        int n = team.size;
        long each = trips / n;
        long more = trips - each * n;
        begin = each * number + Math.min(number, more);
        end = begin + each + (number < more ? 1 : 0);
        ordinal = number;
        return begin < end;
    }

    private boolean inTurn() {
        long index = next;
        next += team.size;
        return take(index);
    }

    private boolean dynamic() {
        return !leaves() && take(Words.getAndAdd(team.slots, slot, 1) & INDEX_MASK);
    }

    /** Makes this member's piece the chunk with this index. */
    private boolean take(long index) {
        if (index > (trips - 1) / chunk || trips == 0) {
            return false;
        }
        begin = index * chunk;
        end = Math.min(trips, begin + chunk);
        ordinal = index;
        return true;
    }

    private boolean guided() {
        if (leaves()) {
            return false;
        }
        long units = (trips + chunk - 1) / chunk; // the index counts smallest chunks
        while (true) {
            long word = Words.get(team.slots, slot);
            long index = word & INDEX_MASK;
            if (index >= units) {
                return false;
            }
            long take = Math.max(1, (units - index) / (2L * (joinable ? Math.max(EXPECTED, team.size) : team.size)));
            if (Words.compareAndSet(team.slots, slot, word, word + take)) {
                begin = index * chunk;
                end = Math.min(trips, (index + take) * chunk);
                return true;
            }
        }
    }

    /** Whether to take no more: another threw, or the CPUs became fewer than the members. Lets others in if they became more. */
    private boolean leaves() {
        if (team.cancelled) {
            throw Cancelled.INSTANCE;
        }
        if ((++claims & 7) == 0) {
            if (number > 0) {
                return team.surplus(number);
            }
            if (joinable) {
                team.grow();
            }
        }
        return false;
    }

    /**
     * Where the piece begins, in the program's terms.
     *
     * @param from the loop's first value
     * @param step its step
     * @return the piece's first value
     */
    public int from(int from, int step) {
        return (int) (from + begin * step);
    }

    /**
     * Where the piece begins, in the program's terms.
     *
     * @param from the loop's first value
     * @param step its step
     * @return the piece's first value
     */
    public long from(long from, long step) {
        return from + begin * step;
    }

    /**
     * Where the piece ends, for a loop that stops before its bound.
     *
     * @param from the loop's first value
     * @param step its step
     * @param to its bound
     * @return the piece's bound
     */
    public int to(int from, int step, int to) {
        return end == trips ? to : (int) (from + end * step);
    }

    /**
     * Where the piece ends, for a loop that stops before its bound.
     *
     * @param from the loop's first value
     * @param step its step
     * @param to its bound
     * @return the piece's bound
     */
    public long to(long from, long step, long to) {
        return end == trips ? to : from + end * step;
    }

    /**
     * Where the piece ends, for a loop that stops after its bound.
     *
     * @param from the loop's first value
     * @param step its step
     * @return the piece's last value
     */
    public int through(int from, int step) {
        return (int) (from + (end - 1) * step);
    }

    /**
     * Where the piece ends, for a loop that stops after its bound.
     *
     * @param from the loop's first value
     * @param step its step
     * @return the piece's last value
     */
    public long through(long from, long step) {
        return from + (end - 1) * step;
    }

    /** @return the piece's first iteration, counted from 0 */
    public long begin() {
        return begin;
    }

    /** @return the iteration after the piece's last, counted from 0 */
    public long end() {
        return end;
    }

    /** @return whether this member ran the loop's last iteration */
    public boolean last() {
        return last;
    }

    // ---- ordered ----

    /** Waits until all iterations before this piece have passed their {@code ordered} parts. */
    public void orderedBegin() {
        if (ordered && !passed) {
            awaitTurn(team.slots, turn, turnBase | ordinal);
        }
    }

    /**
     * Comes to the end of an {@code ordered} part.
     *
     * @param pieceEnds whether this is the piece's last iteration, so that the next piece's turn comes now
     */
    public void orderedEnd(boolean pieceEnds) {
        if (ordered && pieceEnds && !passed) {
            passTurn();
        }
    }

    private void passTurn() {
        if (!passed) {
            awaitTurn(team.slots, turn, turnBase | ordinal);
            passed = true;
            Words.set(team.slots, turn, turnBase | ordinal + 1);
            team.wakeAll();
        }
    }
}
