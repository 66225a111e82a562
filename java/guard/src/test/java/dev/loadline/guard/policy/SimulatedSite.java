package dev.loadline.guard.policy;

import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.Turns;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * A site on one CPU behind the admission, in simulated time: requests and handshakes share the processor,
 * collections stop it, sessions come as in the auction's browsing mix, and the host may be unsteady: then the
 * CPU is slower at times, by a quarter at most, and now and then it is gone for a moment, as those of virtual
 * machines are. What it leaves out is the network, and threads. Demands are those of the auction on a CPU of
 * 2.5 GHz; so are the figures: it serves some 190 sessions/s, falls to a quarter at three times that when it
 * is not guarded, and a guard that does badly on the real site does so here.
 */
final class SimulatedSite {
    private static final double FULL_S = 2.2e-3;
    private static final double RESUMED_S = 0.75e-3;
    private static final double REQUEST_S = 0.22e-3;
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
    private static final double FULL_GC_S = 0.2;
    private static final double LEAD_S = 15;
    /** An unsteady host: its least speed, the longest that the CPU is gone, and how often on average. */
    private static final double SLOWEST_HOST = 0.75;
    private static final double MOST_STALL_S = 0.17;
    private static final double UNSTEADY_EVERY_S = 4;
    /** As the guard's thread does: below this utilization threads are not asked how long they wait. */
    private static final double WORTH_ASKING = 0.6;

    /** What became of a run. */
    record Seen(double replies, double p95Ms, long refusedToBegin, long refusedUnderWay, double utilization) {}

    private static final class Session {
        int left;
        Standing standing;
        Verdict verdict;
        boolean full;
        Turns.Turn turn;
        double asked;
    }

    /** Work that shares the processor; it is done when each has been given so much of it. */
    private record Job(double at, double demand, Session session, boolean handshake) {}

    private record Event(double at, Runnable what) {}

    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingDouble(Event::at));
    private final PriorityQueue<Job> jobs = new PriorityQueue<>(Comparator.comparingDouble(Job::at));
    private final Random random = new Random(5);
    private final Random host = new Random(16);
    private final boolean guarded;
    private final double speed;
    private final DoubleUnaryOperator perSecond;
    private final Costs costs = new Costs(0, 0);
    private final Correction correction = new Correction(GuardSettings.defaults().targetWaiting());
    private final Admission admission = new Admission(1, 0.95, costs, 0);
    private final Turns turns = new Turns(this::handshakesAtATime, this::nanoTime, failure -> { throw new AssertionError(failure); });

    private double now;
    /** What each job has been given so far that was there all the time. */
    private double given;
    private double pausedUntil;
    private double hostSpeed = 1;
    private double busy;
    private double waited;
    private double waitedForTurn;
    private double underWay;
    private double attributed;
    private final double[] requests = new double[Outcome.values().length];

    private double used;
    private long refusedToBegin;
    private long refusedUnderWay;
    private int replies;
    private double[] responses = new double[1 << 16];

    private SimulatedSite(boolean guarded, double speed, DoubleUnaryOperator perSecond) {
        this.guarded = guarded;
        this.speed = speed;
        this.perSecond = perSecond;
    }

    /**
     * Runs a site that has just begun, and counts after some seconds.
     *
     * @param speed of its CPU
     * @param perSecond sessions that come
     */
    static Seen run(boolean guarded, double speed, double perSecond, double seconds) {
        return new SimulatedSite(guarded, speed, at -> perSecond).run(seconds);
    }

    /** The same with so many at first, and a crowd from half of the time on. */
    static Seen crowd(boolean guarded, double speed, double before, double after, double seconds) {
        return new SimulatedSite(guarded, speed, at -> at < LEAD_S + seconds / 2 ? before : after).run(seconds);
    }

    /** The same as {@link #run(boolean, double, double, double)}, on an unsteady host. */
    static Seen unsteady(boolean guarded, double perSecond, double seconds) {
        var site = new SimulatedSite(guarded, 1, at -> perSecond);
        site.hostChanges();
        site.later(UNSTEADY_EVERY_S, site::hostStalls);
        return site.run(seconds);
    }

    private Seen run(double seconds) {
        later(0, this::begin);
        later(TICK_S, this::tick);
        later(YOUNG_EVERY_S, () -> collect(YOUNG_S, YOUNG_EVERY_S));
        later(3, () -> collect(FULL_GC_S, FULL_EVERY_S));
        double end = LEAD_S + seconds;
        while (true) {
            double completion = jobs.isEmpty() ? Double.MAX_VALUE : Math.max(now, pausedUntil) + (jobs.peek().at - given) * jobs.size();
            double next = Math.min(completion, events.peek().at);
            if (next > end) {
                break;
            }
            pass(next);
            if (next == completion) {
                done(jobs.remove());
            } else {
                events.remove().what.run();
            }
        }
        double[] sorted = Arrays.copyOf(responses, replies);
        Arrays.sort(sorted);
        return new Seen(replies / seconds, replies == 0 ? 0 : sorted[(int) (0.95 * (replies - 1))] * 1e3, refusedToBegin, refusedUnderWay, used / seconds);
    }

    private int handshakesAtATime() {
        return guarded ? 1 : Integer.MAX_VALUE;
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
        return mean / (speed * hostSpeed) * Math.exp(random.nextGaussian() * Math.sqrt(variance) - variance / 2);
    }

    private void pass(double until) {
        double seconds = until - now;
        double running = seconds - Math.max(0, Math.min(until, pausedUntil) - now);
        int sharing = jobs.size();
        // Whose turn has not come waits too.
        int under = sharing + turns.waiting();
        if (sharing > 0) {
            given += running / sharing;
            waited += (under - 1) * seconds;
        }
        waitedForTurn += turns.waiting() * seconds;
        underWay += under * seconds;
        // A collection uses the CPU too.
        double spent = under > 0 ? seconds : seconds - running;
        busy += spent;
        if (counts()) {
            used += spent;
        }
        now = until;
    }

    private void begin() {
        later(exponential(1 / perSecond.applyAsDouble(now)), this::begin);
        var session = new Session();
        session.left = 1 + (int) exponential(REQUESTS - 0.5);
        session.standing = random.nextDouble() < RETURNING ? Standing.RETURNING : Standing.NEW;
        session.asked = now;
        connect(session);
    }

    private void ask(Session session) {
        session.asked = now;
        if (random.nextDouble() < RECONNECTING) {
            connect(session);
        } else {
            work(demand(REQUEST_S, REQUEST_VARIES), session, false);
        }
    }

    private void connect(Session session) {
        if (guarded) {
            double waiting = correction.waitingNow(jobs.size() + turns.waiting(), 1) / correction.targetWaiting();
            long at = nanoTime();
            session.verdict = session.standing == Standing.NEW ? admission.fresh(at, Customer.SILVER, waiting)
                : admission.claim(at, Customer.SILVER, session.standing, waiting, true);
            if (session.verdict.refuses()) {
                if (counts() && session.standing == Standing.KNOWN) {
                    refusedUnderWay++;
                } else if (counts()) {
                    refusedToBegin++;
                }
                return;
            }
        }
        session.full = session.standing == Standing.NEW;
        if (!session.full) {
            work(demand(RESUMED_S, HANDSHAKE_VARIES), session, true);
            return;
        }
        double demand = demand(FULL_S, HANDSHAKE_VARIES);
        session.turn = turns.turn(0, () -> work(demand, session, true));
        if (session.turn.enter()) {
            work(demand, session, true);
        }
    }

    private void work(double demand, Session session, boolean handshake) {
        jobs.add(new Job(given + demand, demand, session, handshake));
    }

    private void done(Job job) {
        Session session = job.session;
        Outcome outcome = session.full ? Outcome.FULL : Outcome.RESUMED;
        attributed += job.demand;
        if (job.handshake) {
            if (session.full) {
                session.turn.over();
            }
            if (guarded) {
                admission.settle(session.verdict, Customer.SILVER, session.standing, outcome, (long) (job.demand * 1e9));
                costs.handshake(outcome, (long) (job.demand * 1e9));
            }
            session.standing = Standing.KNOWN;
            work(demand(REQUEST_S, REQUEST_VARIES), session, false);
            return;
        }
        requests[outcome.ordinal()] += job.demand;
        if (now - session.asked > TIMEOUT_S) {
            return; // has given up
        }
        if (counts()) {
            if (replies == responses.length) {
                responses = Arrays.copyOf(responses, 2 * replies);
            }
            responses[replies++] = now - session.asked;
        }
        if (--session.left > 0) {
            later(exponential(THINK_S), () -> ask(session));
        }
    }

    private void collect(double pause, double every) {
        pausedUntil = Math.max(now, pausedUntil) + pause / speed;
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
        for (Outcome outcome : Outcome.values()) {
            costs.requests(outcome, (long) (requests[outcome.ordinal()] * 1e9));
            requests[outcome.ordinal()] = 0;
        }
        costs.passed(TICK_S, (long) (attributed * 1e9), (long) (busy * 1e9), 1);
        correction.passed(TICK_S, utilization, measured ? waited / TICK_S : 0, measured ? waitedForTurn / TICK_S : 0,
            measured && underWay > 0 ? Math.min(1, (busy + waited) / underWay) : Double.NaN, admission.refusing(), admission.byBudget());
        admission.passed(nanoTime(), TICK_S, 1, correction);
        turns.passed(TICK_S, utilization);
        busy = waited = waitedForTurn = underWay = attributed = 0;
    }
}
