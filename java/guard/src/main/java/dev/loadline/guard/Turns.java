package dev.loadline.guard;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Full handshakes one after another: so many compute at a time as there are CPUs, the others wait in the
 * order of their arrival, and hold no thread meanwhile.
 *
 * <p>A full handshake computes ten times as long as a request. When several share a CPU with requests, each
 * takes a share as large as a request's from all others, and all of them end late; in turns they take one share
 * together. At 1.1 times the load line the 95th percentile is half as long then, at the same throughput
 * ({@code SimulatedSite}).
 *
 * <p>That holds for handshakes which compute. Where they wait for something else, as for a signature from another
 * machine, the CPUs are idle while others wait for their turn: then more have it at a time, twice as many with each
 * tick. A turn that nobody gives back counts as given back after {@value #LONGEST_TICKS} ticks.
 *
 * <p>Thread-safe.
 */
public final class Turns {
    static final int LONGEST_TICKS = 20;
    /** Ticks in a row after which idle CPUs count: a host that takes the CPUs away for a moment makes one look idle. */
    static final int IDLE_TICKS = 2;
    /** Share of a tick by which somebody has to wait longer than the CPUs work. */
    private static final double MARGIN = 0.15;
    private static final double MOST_WIDTH = 1 << 10;
    /** Before anything is known: a signature and what shares the CPU with it. */
    private static final double PRIOR_NANOS = 5e6;
    /** What is learnt of a tick in which somebody always waited. */
    private static final double LEARNS = 0.25;
    /** Per tick: half of what was added in ten seconds. */
    private static final double NARROWER = Math.pow(0.5, 1 / 40.0);

    private enum State { NEW, WAITING, COMPUTING, OVER }

    /** Who is told what happens; does not throw. */
    public interface Told {
        /** It has to wait. In the order of events, with the lock held: to be short. */
        default void waits(long key) {}

        /** It waits no longer: its turn has come, or it is gone. In the order of events, with the lock held. */
        default void goesOn(long key) {}

        /** What a task threw whose turn had come: neither those behind it nor who gave the turn back suffer. */
        void failed(Throwable e);
    }

    /** One handshake's. */
    public final class Turn {
        private final long key;
        private final Runnable goOn;
        private State state = State.NEW;
        private int ticks;

        private Turn(long key, Runnable goOn) {
            this.key = key;
            this.goOn = goOn;
        }

        /**
         * Asks for the turn, once.
         *
         * @return whether it has come already; if not, {@code goOn} is called when it does, by whoever gives one back
         */
        public boolean enter() {
            int now = cpus.getAsInt();
            synchronized (Turns.this) {
                if (state != State.NEW) {
                    return true; // closed meanwhile: it need not wait
                }
                if (waiting.isEmpty() && computing.size() < now * width) {
                    begin(this);
                    return true;
                }
                state = State.WAITING;
                told.waits(key);
                if (waiting.isEmpty()) {
                    waitedFromNanos = nanoTime.getAsLong();
                }
                waiting.add(this);
                return false;
            }
        }

        /** It has computed, or never will. Once counts. */
        public void over() {
            synchronized (Turns.this) {
                switch (state) {
                    case WAITING -> {
                        waiting.remove(this);
                        waitedSoFar();
                        told.goesOn(key);
                    }
                    case COMPUTING -> computing.remove(this);
                    case NEW, OVER -> { }
                }
                state = State.OVER;
            }
            next();
        }
    }

    private final IntSupplier cpus;
    private final LongSupplier nanoTime;
    private final Told told;
    private final Queue<Turn> waiting = new ArrayDeque<>();
    private final Set<Turn> computing = new HashSet<>();
    private double width = 1;
    private int idleTicks;
    private boolean handingOut;
    /** When somebody began to wait, or the tick began if that was later; only of use while somebody waits. */
    private long waitedFromNanos;
    private long waitedNanos;
    /** Turns handed out since the tick began, and how long one took of late while others waited. */
    private int handedOut;
    private double perTurnNanos = PRIOR_NANOS;

    /**
     * @param cpus how many can compute at a time; asked often
     * @param nanoTime a clock
     * @param told what happens
     */
    public Turns(IntSupplier cpus, LongSupplier nanoTime, Told told) {
        this.cpus = cpus;
        this.nanoTime = nanoTime;
        this.told = told;
    }

    /**
     * @param key of the connection, for whoever is told
     * @param goOn begins the work and returns; called at most once, and only after {@link Turn#enter} said false
     */
    public Turn turn(long key, Runnable goOn) {
        return new Turn(key, goOn);
    }

    /** Those whose turn has not come. */
    public int waiting() {
        synchronized (this) {
            return waiting.size();
        }
    }

    /** How long who waits does so for each one before it. */
    public double perTurnNanos() {
        synchronized (this) {
            return perTurnNanos;
        }
    }

    /** Those whose turn it is. */
    public int computing() {
        synchronized (this) {
            return computing.size();
        }
    }

    /**
     * A tick ended.
     *
     * @param utilization CPU time of the process per CPU time at hand
     */
    public void passed(double seconds, double utilization) {
        synchronized (this) {
            computing.removeIf(turn -> {
                boolean lost = ++turn.ticks > LONGEST_TICKS;
                if (lost) {
                    turn.state = State.OVER;
                }
                return lost;
            });
            if (!waiting.isEmpty()) {
                waitedSoFar();
            }
            // Who computes keeps a CPU busy for as long as others wait for it, at least.
            boolean idle = waitedNanos / (seconds * 1e9) > utilization + MARGIN;
            double each = (double) waitedNanos / Math.max(1, handedOut);
            perTurnNanos += (each - perTurnNanos) * LEARNS * Math.min(1, waitedNanos / (seconds * 1e9));
            waitedNanos = 0;
            handedOut = 0;
            idleTicks = idle ? idleTicks + 1 : 0;
            width = idleTicks >= IDLE_TICKS ? Math.min(MOST_WIDTH, 2 * width) : Math.max(1, NARROWER * width);
        }
        next();
    }

    /** More may compute than a moment ago: lets them. */
    void goOn() {
        next();
    }

    /** Somebody has waited until now. */
    private void waitedSoFar() {
        long now = nanoTime.getAsLong();
        waitedNanos += now - waitedFromNanos;
        waitedFromNanos = now;
    }

    private void begin(Turn turn) {
        turn.state = State.COMPUTING;
        computing.add(turn);
    }

    /**
     * Hands out what turns there are, one after another: who gives one back while another is handed out leaves the
     * next one to that thread, so that a pool which takes nothing more does not make the stack as deep as the queue.
     */
    private void next() {
        for (Turn turn = come(); turn != null; turn = come()) {
            try {
                turn.goOn.run();
            } catch (RuntimeException | Error e) {
                told.failed(e);
            } finally {
                synchronized (this) {
                    handingOut = false;
                }
            }
        }
    }

    /** The next one whose turn has come; null if there is none, or if another thread hands them out. */
    private Turn come() {
        int now = cpus.getAsInt();
        synchronized (this) {
            if (handingOut || waiting.isEmpty() || computing.size() >= now * width) {
                return null;
            }
            handingOut = true;
            Turn turn = waiting.remove();
            waitedSoFar();
            handedOut++;
            begin(turn);
            told.goesOn(turn.key);
            return turn;
        }
    }
}
