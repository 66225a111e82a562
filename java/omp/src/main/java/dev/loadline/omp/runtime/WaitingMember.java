package dev.loadline.omp.runtime;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How a member waits and is woken. It waits for a word to come to a ticket: looking, then yielding or
 * parked (see {@link Waiting}). Before it parks it says so, with a volatile store, and looks once more;
 * who stores a ticket, with a volatile store, then looks whether the waiter sleeps.
 */
abstract sealed class WaitingMember permits LoopMember {
    static final long AWAKE = 0;
    static final long ASLEEP = 1;
    static final long GONE = 2;
    /** In place of a fork: the thread shall end. */
    static final long RETIRE = -1;

    // How a wait behaves.
    static final int CANCELLABLE = 1;
    static final int HELPFUL = 2;

    /** Nobody says when a task that another member runs has ended or has made more: look every so often. */
    private static final long TASK_POLL_NS = 50_000;

    // Lines of this member's words.
    static final int ARRIVED = Words.line(0); // a ticket; then DONE and what it reduces, in the same line
    static final int DONE = ARRIVED + 1;
    static final int REDUCED = ARRIVED + 2;
    static final int STATE = Words.line(1);
    static final int FLAGS = 2; // and what follows: one line per round of the barrier
    static final int ROUNDS = 10; // 2^10 threads

    static final int TASKS_MADE = Words.line(FLAGS + ROUNDS);
    static final int TASKS_RUN = TASKS_MADE + 1;

    final long[] words = Words.lines(FLAGS + ROUNDS + 1);

    final Team team;
    final int number;

    private Thread thread;
    private TeamThread server;
    private int patience = Waiting.LEAST_SPINS;
    private int waits;

    WaitingMember(Team team, int number) {
        this.team = team;
        this.number = number;
        words[STATE] = number == 0 ? AWAKE : GONE;
    }

    private Member self() {
        return (Member) this;
    }

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
        server = new TeamThread(self(), seen);
        server.start();
    }

    /** The kernel's number of the team's thread that serves this place; empty if none does. */
    String kernelThread() {
        TeamThread serving = server;
        return serving == null ? "" : serving.kernelThread;
    }

    void retire() {
        Words.set(words, STATE, GONE);
    }

    /** Wakes another place if it sleeps; reads nothing but its words, which its thread seldom writes. */
    final void wakeIfAsleep(int place) {
        if (Words.get(team.words[place], STATE) == ASLEEP) {
            team.members[place].wake();
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
    final void await(long[] polled, int index, long ticket, int mode) {
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
            } else if (helpful && team.hasTasks()) {
                LockSupport.parkNanos(team, TASK_POLL_NS);
            } else {
                sleep(() -> reached.getAsBoolean() || cancellable && team.cancelled || helpful && team.hasTasks(), 0);
            }
        }
    }

    /** What a waiter does meanwhile: leave, or help. */
    private void disturb(int mode) {
        if ((mode & CANCELLABLE) != 0 && team.cancelled) {
            throw Cancelled.INSTANCE;
        }
        if ((mode & HELPFUL) != 0 && team.hasTasks()) {
            team.runTask(self());
        }
    }

    /**
     * Whether the team's current, or last, region has this place: a team keeps the threads that its
     * larger regions needed.
     */
    final boolean isInRegion() {
        return number < team.size;
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
        BooleanSupplier ready = () -> cell.word() != seen && includesMe(cell.word()) || isInRegion() && team.hasTasks();
        for (int yields = 0; ; yields++) {
            long word = cell.word();
            if (word != seen && includesMe(word)) {
                return word;
            }
            disturb(HELPFUL);
            if (yields < Waiting.yields(team.spin)) {
                Thread.yield();
            } else if (isInRegion() && team.hasTasks()) {
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

    final void pause(int idle) {
        if (idle < team.spin) {
            Thread.onSpinWait();
        } else if (idle < team.spin + Waiting.yields(0)) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(team, TASK_POLL_NS);
        }
    }
}
