package dev.loadline.guard.policy;

import java.util.Arrays;

/**
 * The one signal of the control: the delay that a request sees before it has a worker and a CPU. Not thread-safe.
 *
 * <p>It is measured each tick where it arises (queue of the workers, run queue of the kernel, turns of handshakes), and
 * known at each moment in between: how many events are under way is counted exactly, and each of those ahead that compete
 * for a CPU takes as long as events took of late. A control that waited for the next tick would swing: connections of a
 * few milliseconds come and go many times in between.
 */
public final class Delay {
    /** What is learnt of a tick weighs a third after so long: at a quarter of it pauses show, at four times a change of load lags. */
    private static final double MEMORY_SECONDS = 1;
    /** Ticks of which the least delay is what lasts, 2.5 s: a collection, or a host that takes the CPU away, is over sooner. */
    private static final int STANDING_TICKS = 10;
    /** The first reply of a session takes two events beside the handshake's turn: its end, and the request. */
    public static final double CONNECTION_EVENTS = 2;
    /**
     * Where a session begins with a request, that is one; but it is whole requests then that wait, those of sessions under
     * way like the first, and their delay has a longer tail. At 1 the 95th percentile comes near to the objective; at 2 more is refused.
     */
    public static final double REQUEST_EVENTS = 1.5;
    /** Use of the CPUs in effect below which who waits for a turn waits for another machine that signs: more will have one soon. */
    private static final double IDLE = 0.5;
    /** However long nothing runs, it will: somebody always begins. */
    private static final double LEAST_IN_EFFECT = 0.05;
    /** Before anything is known: of what a request takes, nearer to too much. */
    private static final double PRIOR_NANOS = 2e6;

    private final double eventsToReply;
    private Objective objective;
    /** Of each tick: delay of an event of those who are in, and of who begins. */
    private final double[] runs = new double[STANDING_TICKS];
    private final double[] begins = new double[STANDING_TICKS];
    private int tick;
    private double cpus = 1;
    private double cpusInEffect = 1;
    private double perEventNanos = PRIOR_NANOS;
    private double serviceNanos;
    private double competing = 1;
    private boolean idle = true;

    public Delay(Objective objective) {
        this(objective, CONNECTION_EVENTS);
    }

    /** @param eventsToReply that the first reply of a session takes */
    public Delay(Objective objective, double eventsToReply) {
        this.objective = objective;
        this.eventsToReply = eventsToReply;
    }

    /**
     * What was measured over a tick.
     *
     * @param cpuNanos CPU time of the process
     * @param events that ended
     * @param underWayNanos time that all events were under way, those that wait for a turn too
     * @param waitedNanos time that events waited for a worker or a CPU
     * @param turnNanos time that events waited for their turn
     * @param competing share of the events under way that ran or waited to run; NaN when not measured
     */
    public record Tick(double seconds, double cpus, long cpuNanos, long events, double underWayNanos, double waitedNanos,
                       double turnNanos, double competing) {}

    /** A tick ended. @param turnNanos the delay of who had its turn last */
    public void passed(Tick now, double turnNanos) {
        double weight = 1 - Math.exp(-now.seconds / MEMORY_SECONDS);
        double inEffect = inEffect(now);
        // More than before are in effect at once; fewer when that lasts.
        cpusInEffect = Math.min(now.cpus, Math.max(inEffect, cpusInEffect + (inEffect - cpusInEffect) * weight));
        cpus = now.cpus;
        double events = Math.max(1, now.events);
        idle = now.cpuNanos < IDLE * now.seconds * 1e9 * cpusInEffect;
        if (now.events > 0) {
            // Where somebody always waits, what passes between two ends is what one takes, whoever else uses the CPUs.
            boolean busy = now.waitedNanos > 1e9 * now.seconds * cpus;
            double each = busy ? 1e9 * now.seconds / events : now.cpuNanos / (events * cpus);
            perEventNanos += (each - perEventNanos) * weight;
            double served = Math.max(0, now.underWayNanos - now.waitedNanos - now.turnNanos) / events;
            serviceNanos += (served - serviceNanos) * weight;
        }
        if (!Double.isNaN(now.competing)) {
            competing += (Math.min(1, Math.max(0.02, now.competing)) - competing) * weight;
        }
        double run = now.waitedNanos / events;
        tick = (tick + 1) % STANDING_TICKS;
        runs[tick] = run;
        begins[tick] = (idle ? 0 : turnNanos) + eventsToReply * run;
    }

    /**
     * The CPUs with which a queue would be as long as it is at this use of them: fewer than at hand where others use them
     * too, or where workers wait for something else. Of c CPUs in use for a part r, r^√(2(c+1)) / (1-r) wait (Sakasegawa, 1977).
     */
    private static double inEffect(Tick now) {
        double used = now.cpuNanos / (1e9 * now.seconds);
        double waiting = now.waitedNanos / (1e9 * now.seconds);
        if (waiting == 0) {
            return now.cpus;
        }
        double exponent = Math.sqrt(2 * (now.cpus + 1));
        double low = 0;
        double high = 1;
        for (int i = 0; i < 30; i++) {
            double middle = (low + high) / 2;
            if (Math.pow(middle, exponent) / (1 - middle) < waiting) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return Math.min(now.cpus, Math.max(LEAST_IN_EFFECT * now.cpus, used / high));
    }

    /** CPUs that do what is owed: of those at hand, what others leave. */
    public double cpusInEffect() {
        return cpusInEffect;
    }

    /**
     * What who begins now will see.
     *
     * @param underWay events that have a worker or wait for one
     * @param turnNanos delay until its turn
     */
    public double nanos(int underWay, double turnNanos) {
        return (idle ? 0 : turnNanos) + eventsToReply * Math.max(0, underWay * competing - cpus) * perEventNanos;
    }

    /** What who began in the last tick saw. */
    public double beginNanos() {
        return begins[tick];
    }

    /** What who begins has seen for seconds, and still does. */
    public double lastingNanos() {
        return Arrays.stream(begins).min().orElse(0);
    }

    /** What events of those who are in have seen for seconds, and still do. */
    public double standingNanos() {
        return Arrays.stream(runs).min().orElse(0);
    }

    /** Another objective, from now on. */
    public void objective(Objective objective) {
        this.objective = objective;
    }

    public Objective objective() {
        return objective;
    }

    /** What it may be, on average, when more is offered than can be served. */
    public double targetNanos() {
        return objective.targetNanos(serviceNanos);
    }
}
