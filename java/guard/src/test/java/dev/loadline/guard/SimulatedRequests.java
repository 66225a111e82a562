package dev.loadline.guard;

import dev.loadline.guard.policy.Admission;
import dev.loadline.guard.policy.Costs;
import dev.loadline.guard.policy.Customer;
import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Objective;
import dev.loadline.guard.policy.Outcome;
import dev.loadline.guard.policy.Standing;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * A server on one CPU whose workers ask the gate when they begin with a request, in simulated time. Its workers share the CPU
 * in slices; who finds none waits before the guard sees it. Demands are exponential, sessions are of ten requests.
 */
final class SimulatedRequests {
    private static final double REQUEST_S = 2e-3;
    private static final double REFUSED_S = 0.1e-3;
    private static final double SLICE_S = 3e-3;
    private static final double THINK_S = 0.7;
    private static final double REQUESTS = 10;
    private static final double TICK_S = 0.25;
    private static final double LEAD_S = 15;
    private static final double TIMEOUT_S = 10;
    /** Sessions that the CPU serves in a second. */
    static final double LINE = 1 / (REQUEST_S * REQUESTS);

    /** Per second where nothing else is said; p95 of replies to those who were let in. */
    record Seen(double good, double p95Ms, long refusedToBegin, long refusedUnderWay, double utilization) {}

    private static final class Session {
        int left;
        boolean known;
    }

    private static final class Job {
        final Session session;
        final double asked;
        Admission.Decision decision;
        boolean refused;
        double demand;
        double left;

        Job(Session session, double asked) {
            this.session = session;
            this.asked = asked;
        }
    }

    private record Event(double at, Runnable what) {}

    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingDouble(Event::at));
    private final Deque<Job> ready = new ArrayDeque<>();
    private final Deque<Job> waiting = new ArrayDeque<>();
    private final Random random = new Random(3);
    private final WorkerQueue queue = new WorkerQueue();
    private final Costs costs = new Costs(0, 0);
    private final Objective objective = Objective.parse("p95=250ms");
    private final Delay delay = new Delay(objective, Delay.REQUEST_EVENTS);
    private final Admission admission = new Admission(costs, 0);
    private final int workers;
    private final double perSecond;
    private final boolean guarded;

    private double now;
    private double sliceLeft = SLICE_S;
    private double busy;
    private double waited;
    private double underWay;
    private double reported;
    private long ended;
    private double used;
    private long good;
    private long refusedToBegin;
    private long refusedUnderWay;
    private int replies;
    private double[] responses = new double[1 << 16];

    private SimulatedRequests(int workers, double perSecond, boolean guarded, boolean seesQueue) {
        this.workers = workers;
        this.perSecond = perSecond;
        this.guarded = guarded;
        if (seesQueue) {
            queue.length(waiting::size);
        }
    }

    /**
     * @param load per what the CPU serves
     * @param seesQueue whether the server says how many wait for a worker
     */
    static Seen run(int workers, double load, double seconds, boolean guarded, boolean seesQueue) {
        return new SimulatedRequests(workers, load * LINE, guarded, seesQueue).run(seconds);
    }

    private Seen run(double seconds) {
        later(0, this::begin);
        later(TICK_S, this::tick);
        while (true) {
            Job first = ready.peek();
            double runs = first == null ? Double.MAX_VALUE : now + Math.min(first.left, sliceLeft);
            double next = Math.min(runs, events.peek().at);
            if (next > LEAD_S + seconds) {
                break;
            }
            pass(next);
            if (next == runs) {
                ran(ready.remove());
            } else {
                events.remove().what.run();
            }
        }
        double[] sorted = Arrays.copyOf(responses, replies);
        Arrays.sort(sorted);
        return new Seen(good / seconds, replies == 0 ? 0 : sorted[(int) (0.95 * (replies - 1))] * 1e3, refusedToBegin, refusedUnderWay,
            used / seconds);
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

    private void pass(double until) {
        double seconds = until - now;
        Job first = ready.peek();
        if (first != null) {
            first.left -= seconds;
            sliceLeft -= seconds;
            busy += seconds;
            used += counts() ? seconds : 0;
            waited += (ready.size() - 1) * seconds;
        }
        underWay += ready.stream().filter(j -> !j.refused).count() * seconds;
        now = until;
    }

    private void begin() {
        later(exponential(1 / perSecond), this::begin);
        var session = new Session();
        session.left = 1 + (int) exponential(REQUESTS - 0.5);
        ask(session);
    }

    private void ask(Session session) {
        var job = new Job(session, now);
        if (ready.size() < workers) {
            work(job);
        } else {
            waiting.add(job);
        }
    }

    /** A worker has it: now the guard is asked. */
    private void work(Job job) {
        if (guarded) {
            queue.left(false);
            job.refused = refuses(job);
            if (!job.refused) {
                queue.served();
            }
        }
        job.demand = job.refused ? REFUSED_S : exponential(REQUEST_S);
        job.left = job.demand;
        if (ready.isEmpty()) {
            sliceLeft = SLICE_S;
        }
        ready.add(job);
    }

    private boolean refuses(Job job) {
        long nanos = (long) (now * 1e9);
        if (job.session.known) {
            boolean refuses = admission.closed();
            refusedUnderWay += refuses && counts() ? 1 : 0;
            return refuses;
        }
        long inside = ready.stream().filter(j -> !j.refused).count();
        double ofTarget = delay.nanos((int) inside + queue.now(), 0) / delay.targetNanos();
        job.decision = admission.fresh(nanos, Customer.SILVER, false, ofTarget);
        boolean refuses = job.decision.verdict().refuses();
        refusedToBegin += refuses && counts() ? 1 : 0;
        return refuses;
    }

    private void ran(Job job) {
        sliceLeft = SLICE_S;
        if (job.left > 1e-12) {
            ready.add(job);
            return;
        }
        if (!waiting.isEmpty()) {
            work(waiting.remove());
        }
        if (!job.refused) {
            done(job);
        }
    }

    private void done(Job job) {
        ended++;
        reported += job.demand;
        if (guarded && job.decision != null) {
            long nanos = (long) (job.demand * 1e9);
            admission.settle(job.decision.chargedCpuNanos(), Standing.NEW, Outcome.FULL, nanos);
            costs.handshake(Outcome.FULL, true, 1, nanos);
        }
        job.session.known = true;
        double response = now - job.asked;
        if (response > TIMEOUT_S) {
            return; // has given up
        }
        if (counts()) {
            responses = replies == responses.length ? Arrays.copyOf(responses, 2 * replies) : responses;
            responses[replies++] = response;
            good += response * 1e9 <= objective.nanos() ? 1 : 0;
        }
        if (--job.session.left > 0) {
            later(exponential(THINK_S), () -> ask(job.session));
        }
    }

    private void tick() {
        later(TICK_S, this::tick);
        double inQueue = queue.passed() * TICK_S;
        boolean measured = busy > 0.6 * TICK_S || admission.refusing();
        costs.passed(TICK_S, (long) (reported * 1e9), (long) (reported * 1e9), (long) (busy * 1e9), 1);
        double all = underWay + inQueue;
        delay.passed(new Delay.Tick(TICK_S, 1, (long) (busy * 1e9), ended, all * 1e9, measured ? (waited + inQueue) * 1e9 : 0, 0,
            measured && all > 0 ? Math.min(1, (busy + waited + inQueue) / all) : Double.NaN), 0);
        double target = delay.targetNanos();
        admission.passed((long) (now * 1e9), TICK_S, delay.cpusInEffect(), delay.beginNanos() / target, delay.lastingNanos() / target, delay.standingNanos() / target);
        busy = waited = underWay = reported = 0;
        ended = 0;
    }
}
