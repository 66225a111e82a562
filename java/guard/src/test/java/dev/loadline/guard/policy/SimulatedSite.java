package dev.loadline.guard.policy;

import dev.loadline.guard.Turns;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * A site on one CPU behind the admission, in simulated time: a poller's thread takes what comes, workers run it, and all
 * of them share the CPU in slices as the kernel gives them; collections stop it, sessions come as in the auction's
 * browsing mix, and the host may be unsteady. Demands are those of the auction on a CPU of 2.5 GHz, what a refusal and a
 * poller's event take as measured there (bench/guard-cost): it serves some 190 sessions/s. What it leaves out is the
 * network, caches, and what blocks.
 */
final class SimulatedSite {
    private static final double FULL_S = 2.2e-3;
    private static final double RESUMED_S = 0.75e-3;
    private static final double REQUEST_S = 0.2e-3;
    private static final double POLLED_S = 25e-6;
    private static final double REFUSED_S = 70e-6;
    private static final double SWITCH_S = 4e-6;
    /** What the kernel lets a thread run while others wait. */
    private static final double SLICE_S = 3e-3;
    private static final int WORKERS = 200;
    /** Squared coefficients of variation. */
    private static final double HANDSHAKE_VARIES = 0.3;
    private static final double REQUEST_VARIES = 4;
    /** Share of the sessions that begin with a ticket, and of the requests that open a connection. */
    private static final double RETURNING = 0.26;
    private static final double RECONNECTING = 0.155;
    private static final double REQUESTS = 10;
    private static final double THINK_S = 0.7;
    private static final double TIMEOUT_S = 10;
    private static final double TICK_S = 0.25;
    private static final double YOUNG_EVERY_S = 0.7;
    private static final double YOUNG_S = 0.008;
    private static final double FULL_EVERY_S = 40;
    static final double LEAD_S = 15;
    /** An unsteady host: its least speed, the longest that the CPU is gone, and how often on average. */
    private static final double SLOWEST_HOST = 0.75;
    private static final double MOST_STALL_S = 0.17;
    private static final double UNSTEADY_EVERY_S = 4;
    /** As the guard's thread does: below this utilization threads are not asked how long they wait. */
    private static final double WORTH_ASKING = 0.6;

    /**
     * What became of a run, per second where nothing else is said.
     *
     * @param good replies within the objective
     * @param goodSessions sessions that were completed with all replies within it
     * @param longestMs the longest response time
     */
    record Seen(double replies, double good, double goodSessions, double p95Ms, double longestMs, long refusedToBegin,
                long refusedUnderWay, double utilization) {}

    /** How a site is. Times in seconds. */
    record Setting(boolean guarded, double speed, double seconds, DoubleUnaryOperator perSecond, DoubleUnaryOperator cpuSpeed,
                   double fullCollectionS, boolean unsteady, Objective objective, int seed) {
        static Setting of(boolean guarded, double perSecond, double seconds) {
            return new Setting(guarded, 1, seconds, at -> perSecond, at -> 1, 0.2, false, Objective.parse("p95=250ms"), 5);
        }

        Setting speed(double other) {
            return new Setting(guarded, other, seconds, perSecond, cpuSpeed, fullCollectionS, unsteady, objective, seed);
        }

        Setting rate(DoubleUnaryOperator other) {
            return new Setting(guarded, speed, seconds, other, cpuSpeed, fullCollectionS, unsteady, objective, seed);
        }

        Setting cpus(DoubleUnaryOperator other) {
            return new Setting(guarded, speed, seconds, perSecond, other, fullCollectionS, unsteady, objective, seed);
        }

        Setting collection(double fullS) {
            return new Setting(guarded, speed, seconds, perSecond, cpuSpeed, fullS, unsteady, objective, seed);
        }

        Setting unsteadyHost() {
            return new Setting(guarded, speed, seconds, perSecond, cpuSpeed, fullCollectionS, true, objective, seed);
        }

        Setting objective(String text) {
            return new Setting(guarded, speed, seconds, perSecond, cpuSpeed, fullCollectionS, unsteady, Objective.parse(text), seed);
        }

        Setting seed(int other) {
            return new Setting(guarded, speed, seconds, perSecond, cpuSpeed, fullCollectionS, unsteady, objective, other);
        }

        Seen run() {
            return new SimulatedSite(this).run();
        }
    }

    private static final class Session {
        int left;
        Standing standing;
        Admission.Decision decision;
        boolean full;
        boolean good = true;
        Turns.Turn turn;
        double asked;
    }

    /** A run of a thread: an event that a worker has, or the poller's work. */
    private final class Job {
        final Session session;
        final boolean handshake;
        final double demand;
        double left;

        Job(Session session, boolean handshake, double demand) {
            this.session = session;
            this.handshake = handshake;
            this.demand = demand;
            left = demand;
        }
    }

    private record Event(double at, Runnable what) {}

    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingDouble(Event::at));
    /** Threads that are ready to run; the first one runs. */
    private final Deque<Job> ready = new ArrayDeque<>();
    /** Events for which there is no worker. */
    private final Deque<Job> queue = new ArrayDeque<>();
    private final Deque<Runnable> polled = new ArrayDeque<>();
    private Job poller;
    /** What the poller's thread takes in one run. */
    private int batch;
    private int atWork;
    private final Random random;
    private final Random host = new Random(16);
    private final Setting set;
    private final Costs costs = new Costs(0, 0);
    private final Delay delay;
    private final Admission admission = new Admission(costs, 0);
    private final Turns turns = new Turns(this::handshakesAtATime, this::nanoTime, failure -> { throw new AssertionError(failure); });

    private double now;
    private double sliceLeft;
    private double pausedUntil;
    private double hostSpeed = 1;
    private double busy;
    private double waited;
    private double waitedForTurn;
    private double underWay;
    private double reported;
    private long ended;

    private double used;
    private long refusedToBegin;
    private long refusedUnderWay;
    private long good;
    private long goodSessions;
    private int replies;
    private double[] responses = new double[1 << 16];

    private SimulatedSite(Setting set) {
        this.set = set;
        random = new Random(set.seed);
        delay = new Delay(set.objective);
    }

    private Seen run() {
        later(0, this::begin);
        later(TICK_S, this::tick);
        later(YOUNG_EVERY_S, () -> collect(YOUNG_S, YOUNG_EVERY_S));
        later(3, () -> collect(set.fullCollectionS, FULL_EVERY_S));
        if (set.unsteady) {
            hostChanges();
            later(UNSTEADY_EVERY_S, this::hostStalls);
        }
        double end = LEAD_S + set.seconds;
        while (true) {
            Job first = ready.peek();
            double runs = first == null ? Double.MAX_VALUE : Math.max(now, pausedUntil) + Math.min(first.left, sliceLeft) / speed();
            double next = Math.min(runs, events.peek().at);
            if (next > end) {
                break;
            }
            pass(next);
            if (next == runs) {
                ran(first);
            } else {
                events.remove().what.run();
            }
        }
        double[] sorted = Arrays.copyOf(responses, replies);
        Arrays.sort(sorted);
        return new Seen(replies / set.seconds, good / set.seconds, goodSessions / set.seconds,
            replies == 0 ? 0 : sorted[(int) (0.95 * (replies - 1))] * 1e3, replies == 0 ? 0 : sorted[replies - 1] * 1e3,
            refusedToBegin, refusedUnderWay, used / set.seconds);
    }

    private double speed() {
        return set.speed * hostSpeed * set.cpuSpeed.applyAsDouble(now);
    }

    private int handshakesAtATime() {
        return set.guarded ? 1 : Integer.MAX_VALUE;
    }

    private long nanoTime() {
        return (long) (now * 1e9);
    }

    private boolean counts() {
        return now > LEAD_S;
    }

    private void later(double seconds, Runnable what) {
        events.add(new Event(now + seconds, what));
    }

    private double exponential(double mean) {
        return -mean * Math.log(1 - random.nextDouble());
    }

    /** CPU time, log-normal. */
    private double demand(double mean, double varies) {
        double variance = Math.log(1 + varies);
        return mean * Math.exp(random.nextGaussian() * Math.sqrt(variance) - variance / 2);
    }

    private void pass(double until) {
        double seconds = until - now;
        double running = Math.max(0, until - Math.max(now, pausedUntil));
        Job first = ready.peek();
        if (first != null) {
            first.left -= running * speed();
            sliceLeft -= running * speed();
        }
        int waiting = ready.size() - (poller == null ? 0 : 1) - (first == null || first == poller ? 0 : 1) + queue.size();
        waited += waiting * seconds;
        waitedForTurn += turns.waiting() * seconds;
        underWay += (atWork + queue.size() + turns.waiting()) * seconds;
        double spent = first != null ? seconds : seconds - running;
        busy += spent;
        if (counts()) {
            used += spent;
        }
        now = until;
    }

    /** The thread that runs is done, or its slice is. */
    private void ran(Job job) {
        ready.remove();
        if (job.left > 1e-12) {
            ready.add(job);
        } else if (job == poller) {
            for (int n = batch; n > 0; n--) {
                polled.remove().run();
            }
            poller = null;
            poll();
        } else {
            done(job);
            atWork--;
            if (!queue.isEmpty()) {
                work(queue.remove());
            }
        }
        sliceLeft = SLICE_S + SWITCH_S;
    }

    /** Something comes that the poller's thread takes; a thread that slept runs next. */
    private void arrives(Runnable what) {
        polled.add(what);
        if (poller == null) {
            poll();
        }
    }

    private void poll() {
        if (!polled.isEmpty()) {
            batch = polled.size();
            poller = new Job(null, false, batch * POLLED_S + SWITCH_S);
            Job first = ready.poll();
            ready.addFirst(poller);
            if (first != null) {
                ready.addFirst(first);
            } else {
                sliceLeft = SLICE_S;
            }
        }
    }

    private void work(Job job) {
        if (atWork == WORKERS) {
            queue.add(job);
            return;
        }
        atWork++;
        if (ready.isEmpty()) {
            sliceLeft = SLICE_S;
        }
        ready.add(job);
    }

    private void begin() {
        later(exponential(1 / set.perSecond.applyAsDouble(now)), this::begin);
        var session = new Session();
        session.left = 1 + (int) exponential(REQUESTS - 0.5);
        session.standing = random.nextDouble() < RETURNING ? Standing.RETURNING : Standing.NEW;
        session.asked = now;
        arrives(() -> connect(session));
    }

    private void ask(Session session) {
        session.asked = now;
        boolean connects = random.nextDouble() < RECONNECTING;
        arrives(() -> {
            if (connects) {
                connect(session);
            } else {
                work(new Job(session, false, demand(REQUEST_S, REQUEST_VARIES) + SWITCH_S));
            }
        });
    }

    private void connect(Session session) {
        if (set.guarded) {
            double turnNanos = turns.waiting() * turns.perTurnNanos();
            double ofTarget = delay.nanos(atWork + queue.size(), turnNanos) / delay.targetNanos();
            session.decision = session.standing == Standing.NEW ? admission.fresh(nanoTime(), Customer.SILVER, false, ofTarget)
                : admission.claim(nanoTime(), Customer.SILVER, session.standing, ofTarget, true);
            if (session.decision.verdict().refuses()) {
                if (counts() && session.standing == Standing.KNOWN) {
                    refusedUnderWay++;
                } else if (counts()) {
                    refusedToBegin++;
                }
                pausedUntil = Math.max(now, pausedUntil) + REFUSED_S / speed();
                return;
            }
        }
        session.full = session.standing == Standing.NEW;
        var job = new Job(session, true, demand(session.full ? FULL_S : RESUMED_S, HANDSHAKE_VARIES) + SWITCH_S);
        if (!session.full) {
            work(job);
            return;
        }
        session.turn = turns.turn(0, () -> work(job));
        if (session.turn.enter()) {
            work(job);
        }
    }

    private void done(Job job) {
        Session session = job.session;
        ended++;
        double spent = job.demand / speed();
        reported += spent;
        if (job.handshake) {
            Outcome outcome = session.full ? Outcome.FULL : Outcome.RESUMED;
            if (session.full) {
                session.turn.over();
            }
            if (set.guarded) {
                long nanos = (long) (spent * 1e9);
                admission.settle(session.decision.chargedCpuNanos(), session.standing, outcome, nanos);
                costs.handshake(outcome, session.standing != Standing.KNOWN, 1, nanos);
            }
            session.standing = Standing.KNOWN;
            arrives(() -> work(new Job(session, false, demand(REQUEST_S, REQUEST_VARIES) + SWITCH_S)));
            return;
        }
        double response = now - session.asked;
        if (response > TIMEOUT_S) {
            return; // has given up
        }
        boolean within = response * 1e9 <= set.objective.nanos();
        session.good &= within;
        if (counts()) {
            if (replies == responses.length) {
                responses = Arrays.copyOf(responses, 2 * replies);
            }
            responses[replies++] = response;
            good += within ? 1 : 0;
        }
        if (--session.left > 0) {
            later(exponential(THINK_S), () -> ask(session));
        } else if (counts() && session.good) {
            goodSessions++;
        }
    }

    private void collect(double pause, double every) {
        pausedUntil = Math.max(now, pausedUntil) + pause / set.speed;
        later(every, () -> collect(pause, every));
    }

    /** Half of the time it is as fast as it can be. */
    private void hostChanges() {
        hostSpeed = host.nextBoolean() ? 1 : SLOWEST_HOST + (1 - SLOWEST_HOST) * host.nextDouble();
        later(0.5 + 2.5 * host.nextDouble(), this::hostChanges);
    }

    private void hostStalls() {
        pausedUntil = Math.max(now, pausedUntil) + MOST_STALL_S * host.nextDouble();
        later(exponential(UNSTEADY_EVERY_S), this::hostStalls);
    }

    private void tick() {
        later(TICK_S, this::tick);
        double utilization = Math.min(1, busy / TICK_S);
        boolean measured = utilization > WORTH_ASKING || admission.refusing();
        costs.passed(TICK_S, (long) (reported * 1e9), (long) (reported * 1e9), (long) (busy * 1e9), 1);
        double turnNanos = turns.waiting() * turns.perTurnNanos();
        delay.passed(new Delay.Tick(TICK_S, 1, (long) (busy * 1e9), ended, underWay * 1e9, measured ? waited * 1e9 : 0,
            measured ? waitedForTurn * 1e9 : 0,
            measured && underWay > waitedForTurn ? Math.min(1, (busy + waited) / (underWay - waitedForTurn)) : Double.NaN), turnNanos);
        double target = delay.targetNanos();
        admission.passed(nanoTime(), TICK_S, delay.cpusInEffect(), delay.beginNanos() / target, delay.lastingNanos() / target, delay.standingNanos() / target);
        turns.passed(TICK_S, utilization);
        if (TRACE && counts()) {
            System.out.printf("%.2f util %.2f delay %.0f refusing %s factor %.2f refused %d turn %.0f x %d cost %.2f/%.2f%n", now, utilization,
                delay.beginNanos() / 1e6, admission.refusing(), admission.factor(), refusedToBegin, turns.perTurnNanos() / 1e6, turns.waiting(),
                costs.sessionCpuNanos(Outcome.FULL) / 1e6, costs.sessionCpuNanos(Outcome.RESUMED) / 1e6);
        }
        busy = waited = waitedForTurn = underWay = reported = 0;
        ended = 0;
    }

    private static final boolean TRACE = Boolean.getBoolean("sim.trace");

    public static void main(String[] args) {
        for (double load : Arrays.stream(args[0].split(",")).mapToDouble(Double::parseDouble).toArray()) {
            for (boolean guarded : new boolean[] {false, true}) {
                if (args.length < 2 || guarded == Boolean.parseBoolean(args[1])) {
                    System.out.println(load + " " + guarded + " " + Setting.of(guarded, load * 155, 60).run());
                }
            }
        }
    }
}
