package dev.loadline.guard;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * Full handshakes one after another: so many compute at a time as there are CPUs, the others wait in the
 * order of their arrival, and hold no thread meanwhile.
 *
 * <p>A full handshake computes ten times as long as a request. When several share a CPU with requests, each
 * takes a share as large as a request's from all others; in turns they take one share together. With the same
 * number of events under way the CPU is then used to 95 rather than 92%, with nearly the same 95th percentile
 * ({@code SimulatedSite}). A turn that nobody gives back counts as given back after {@value #LONGEST_TICKS} ticks.
 *
 * <p>Thread-safe.
 */
public final class Turns {
    static final int LONGEST_TICKS = 20;

    private enum State { NEW, WAITING, COMPUTING, OVER }

    /** One handshake's. */
    public final class Turn {
        private final Runnable goOn;
        private State state = State.NEW;
        private int ticks;

        private Turn(Runnable goOn) {
            this.goOn = goOn;
        }

        /**
         * Asks for the turn, once.
         *
         * @return whether it has come already; if not, {@code goOn} is called when it does, by whoever gives one back
         */
        public boolean enter() {
            int now = most.getAsInt();
            synchronized (Turns.this) {
                if (state != State.NEW) {
                    return true; // closed meanwhile: it need not wait
                }
                if (waiting.isEmpty() && computing.size() < now) {
                    begin(this);
                    return true;
                }
                state = State.WAITING;
                waiting.add(this);
                return false;
            }
        }

        /** It has computed, or never will. Once counts. */
        public void over() {
            synchronized (Turns.this) {
                switch (state) {
                    case WAITING -> waiting.remove(this);
                    case COMPUTING -> computing.remove(this);
                    case NEW, OVER -> { }
                }
                state = State.OVER;
            }
            next();
        }
    }

    private final IntSupplier most;
    private final Queue<Turn> waiting = new ArrayDeque<>();
    private final Set<Turn> computing = new HashSet<>();

    /** @param most how many may compute at this moment; asked often */
    public Turns(IntSupplier most) {
        this.most = most;
    }

    /** @param goOn begins the work and returns; called at most once, and only after {@link Turn#enter} said false */
    public Turn turn(Runnable goOn) {
        return new Turn(goOn);
    }

    /** Those whose turn has not come. */
    public int waiting() {
        synchronized (this) {
            return waiting.size();
        }
    }

    /** Those whose turn it is. */
    public int computing() {
        synchronized (this) {
            return computing.size();
        }
    }

    /** A tick ended. */
    public void passed() {
        synchronized (this) {
            computing.removeIf(turn -> {
                boolean lost = ++turn.ticks > LONGEST_TICKS;
                if (lost) {
                    turn.state = State.OVER;
                }
                return lost;
            });
        }
        next();
    }

    private void begin(Turn turn) {
        turn.state = State.COMPUTING;
        computing.add(turn);
    }

    private void next() {
        int now = most.getAsInt();
        List<Turn> come = new ArrayList<>(1);
        synchronized (this) {
            while (!waiting.isEmpty() && computing.size() < now) {
                Turn turn = waiting.remove();
                begin(turn);
                come.add(turn);
            }
        }
        come.forEach(turn -> turn.goOn.run());
    }
}
