package dev.loadline.guard.policy;

/**
 * Who gets in: one paced gate. Not thread-safe: the guard calls it under one lock.
 *
 * <p>State: <em>owed</em>, the CPU time promised to sessions that began and not paid off yet (a virtual queue), and a
 * <em>correction</em> of the pace. Signal: the {@link Delay} that who begins now would see, per target. Law: while the
 * delay is below its target everybody is admitted. Once it is not, and more is owed than the CPUs do in half a second,
 * or it has reached {@value #LIMIT} while as much comes as they can serve, or it has lasted, sessions begin at the pace at which
 * the CPUs can serve them to the end:
 *
 * <pre>pace = CPUs · e^correction · (2·target/delay − 1), and nobody begins at {@value #LIMIT} times the target</pre>
 *
 * <p>A session is charged with all that it will cost, so that a crowd does not break itself up when its second
 * connections come. The factor of the delay acts at once, the correction learns slowly what the costs got wrong.
 *
 * <p>Lanes differ by how much may be owed when they still begin: new connections of clients that were served of late, whose
 * session most likely goes on, who comes back with a ticket, gold, silver, bronze, and last who claims what most likely is forged, as new. A claim of a client that was served of late is a session under
 * way: it is not paced, but held back, last, when its like alone are too much.
 *
 * <p>Where most claims turn out bad, one is charged what they cost: it keeps out neither those who really come back nor
 * new ones.
 */
public final class Admission {
    /**
     * Delay, per target, at which nobody begins: then who is let in sees at most so much. At 1 the CPU is idle between two
     * decisions; at 4 the objective is not held.
     */
    public static final double LIMIT = 2;
    /** Below so much of its target delay says no more than that the CPU is idle: the pace is 19 times the CPUs then. */
    public static final double LEAST_DELAY = 0.1;
    /** A cluster that a lane may have begun at once, in time of all CPUs: half: uneven delay; double: no order of lanes at a crowd. */
    static final double CLUSTER_SECONDS = 0.025;
    /** Owed work in calm from which delay means overload. Half: random arrivals at 0.9 reach it; double: a crowd is seen late. */
    static final double CALM_SECONDS = 0.5;
    /**
     * Share of the CPUs from which what is offered is all that they do: it is told late where it rises, and costs fall as a JVM warms
     * up. At 1 petclinic on 25 was offered 97% when who began waited for 420 ms; at 0.9 a full collection at 1.1 times the load line
     * makes the simulated site refuse whom it could serve.
     */
    private static final double FULL = 0.95;
    /** Time in which nobody was refused, nor waited for longer than the target, that ends refusing: costs that are learnt too low refuse nobody. */
    private static final double OVER_SECONDS = 1;
    /** Change of the correction per second and unit of delay per target: a session goes on costing for some ten seconds. */
    private static final double GAIN = 0.05;
    private static final double MOST_CORRECTION = Math.log(5);
    /** When fewer claims than this were good of late, tickets are being forged, or all have become stale at once. */
    private static final double TRUSTED = 0.9;
    /** Lasting delay per target, about the objective itself, from which sessions under way are held back: if refusing others did not help. */
    static final double CLOSED = 3;
    static final double CLOSED_AFTER_SECONDS = 2;
    private static final double SECOND = 1e9;

    /** @param chargedCpuNanos what it is charged until {@link #settle} knows better */
    public record Decision(Verdict verdict, double chargedCpuNanos) {}

    private final Costs costs;
    private final GoodShare knownGood = new GoodShare();
    private final GoodShare returningGood = new GoodShare();
    private double owedCpuNanos;
    private long atNanos;
    private double cpus = 1;
    private double correction;
    private boolean refusing;
    private double refusingSeconds;
    private int refusedNow;
    private double overSeconds;
    private double standingOfTarget;
    private double offeredCpuNanos;
    private double offeredCpus;

    public Admission(Costs costs, long nowNanos) {
        this.costs = costs;
        atNanos = nowNanos;
    }

    /**
     * Decides about a connection that claims nothing: a session begins, or goes on without a ticket.
     *
     * @param servedOfLate whether its client was: most likely a session under way, or many clients have one address
     * @param delayOfTarget what it would see, per target
     */
    public Decision fresh(long nowNanos, Customer customer, boolean servedOfLate, double delayOfTarget) {
        double cost = costs.sessionCpuNanos(Outcome.FULL);
        offeredCpuNanos += cost;
        pay(nowNanos, delayOfTarget);
        return mayBeginAsNew(cost, customer, servedOfLate, delayOfTarget) ? admit(Verdict.ADMIT, cost) : refuse(Verdict.REFUSE_BUDGET);
    }

    /**
     * Decides about a connection that claims a session. {@link Verdict#ADMIT} serves it as new if the claim is not good.
     *
     * @param standing returning or known
     * @param canRestrict whether the engine can be told to resume only
     */
    public Decision claim(long nowNanos, Customer customer, Standing standing, double delayOfTarget, boolean canRestrict) {
        boolean known = standing == Standing.KNOWN;
        double good = (known ? knownGood : returningGood).share();
        double full = costs.sessionCpuNanos(Outcome.FULL);
        double cost = known ? 0 : good * costs.sessionCpuNanos(Outcome.RESUMED) + (1 - good) * costs.sessionCpuNanos(Outcome.FAILED);
        offeredCpuNanos += cost;
        pay(nowNanos, delayOfTarget);
        if (known ? closed() : !mayBegin(cost, mostReturning(), delayOfTarget, LIMIT)) {
            return refuse(known ? Verdict.REFUSE_CEILING : Verdict.REFUSE_BUDGET);
        }
        boolean trusted = good >= TRUSTED;
        boolean asNew = trusted ? mayBeginAsNew(full, customer, known, delayOfTarget) : delayOfTarget < 1 && owedCpuNanos <= doubtful();
        if (!asNew) {
            return canRestrict ? admit(Verdict.RESUME_ONLY, cost) : refuse(Verdict.REFUSE_BUDGET);
        }
        return admit(Verdict.ADMIT, trusted ? cost : full);
    }

    /**
     * Corrects what was charged by what the connection turned out to be.
     *
     * @param standing as it was when it was admitted
     * @param spentCpuNanos what a handshake took that failed: that is all the connection will cost
     */
    public void settle(double chargedCpuNanos, Standing standing, Outcome outcome, long spentCpuNanos) {
        boolean known = standing == Standing.KNOWN;
        double is = switch (outcome) {
            case FULL -> known ? costs.handshakeCpuNanos(Outcome.FULL) : costs.sessionCpuNanos(Outcome.FULL);
            case RESUMED -> known ? 0 : costs.sessionCpuNanos(Outcome.RESUMED);
            case FAILED -> spentCpuNanos * costs.overhead();
        };
        owe(is - chargedCpuNanos);
        if (standing.claims()) {
            (known ? knownGood : returningGood).add(outcome == Outcome.RESUMED);
        }
    }

    /**
     * A tick ended.
     *
     * @param cpus CPUs in effect
     * @param delayOfTarget what who began saw, per target
     * @param lastingOfTarget what of it has lasted for seconds
     * @param standingOfTarget the same of an event of those who are in
     */
    public void passed(long nowNanos, double seconds, double cpus, double delayOfTarget, double lastingOfTarget,
                       double standingOfTarget) {
        pay(nowNanos, delayOfTarget);
        this.cpus = cpus;
        this.standingOfTarget = standingOfTarget;
        offeredCpus += (offeredCpuNanos / (seconds * SECOND) - offeredCpus) * (1 - Math.exp(-seconds / 2));
        offeredCpuNanos = 0;
        if (refusing) {
            double error = Math.max(-1, 1 - delayOfTarget);
            // A pace that keeps nobody out would grow without end, and let the next crowd in.
            double step = refusedNow > 0 || error < 0 ? error : 0;
            correction = Math.min(MOST_CORRECTION, Math.max(-MOST_CORRECTION, correction + GAIN * step * seconds));
        } else {
            correction *= Math.exp(-seconds / 20); // costs are learnt meanwhile
        }
        overSeconds = refusedNow == 0 && delayOfTarget < 1 ? overSeconds + seconds : 0;
        // Delay that lasts although little is owed: a cost is believed too low.
        refusing = refusing && overSeconds < OVER_SECONDS || lastingOfTarget >= 1;
        refusingSeconds = refusing ? refusingSeconds + seconds : 0;
        refusedNow = 0;
    }

    /** A client that was served of late most likely goes on: without this its session breaks when it has lost its ticket. */
    private boolean mayBeginAsNew(double cost, Customer customer, boolean servedOfLate, double delayOfTarget) {
        double mostOfKnown = Math.max(8 * CLUSTER_SECONDS * cpus * SECOND, 1.75 * cost);
        return mayBegin(cost, servedOfLate ? mostOfKnown : most(customer), delayOfTarget, servedOfLate ? 2 * LIMIT : LIMIT);
    }

    private boolean mayBegin(double cost, double mostOwed, double delayOfTarget, double limit) {
        if (!refusing) {
            // As much comes as can be served, and they wait for it: that is no collection which leaves something behind.
            boolean tooMuch = offeredCpus > FULL * cpus * factor() && delayOfTarget >= LIMIT
                || owedCpuNanos > Math.max(0, CALM_SECONDS * cpus * SECOND - cost);
            return delayOfTarget < 1 || !tooMuch;
        }
        return delayOfTarget < limit && owedCpuNanos <= Math.max(0, mostOwed - cost);
    }

    /** What may be owed, with it, when somebody begins: of dear sessions, one at a time, the better customer sooner. */
    private double most(Customer customer) {
        double cost = costs.sessionCpuNanos(Outcome.FULL);
        int rank = Customer.BRONZE.ordinal() - customer.ordinal();
        return Math.max((rank + 1) * CLUSTER_SECONDS * cpus * SECOND, (1 + rank / 4.0) * cost);
    }

    /** What may be owed when who most likely lies is served as new: in calm a cluster, while refusing nothing. */
    private double doubtful() {
        return refusing ? 0 : CLUSTER_SECONDS * cpus * SECOND;
    }

    private double mostReturning() {
        return Math.max(4 * CLUSTER_SECONDS * cpus * SECOND, 3 * costs.sessionCpuNanos(Outcome.FULL));
    }

    private Decision admit(Verdict verdict, double cost) {
        owe(cost);
        return new Decision(verdict, cost);
    }

    private Decision refuse(Verdict verdict) {
        refusing = true;
        refusedNow++;
        return new Decision(verdict, 0);
    }

    /** Pays off what the CPUs did until now, at the pace of the delay while refusing. */
    private void pay(long nowNanos, double delayOfTarget) {
        long passed = nowNanos - atNanos;
        if (passed > 0) {
            double pace = refusing ? Math.max(0, LIMIT / Math.max(LEAST_DELAY, delayOfTarget) - 1) : 1;
            owedCpuNanos = Math.max(0, owedCpuNanos - passed * cpus * factor() * pace);
            atNanos = nowNanos;
        }
    }

    /** Never more than some seconds: after an error the guard is itself again soon. */
    private void owe(double cpuNanos) {
        double most = 4 * Math.max(cpus * SECOND, costs.sessionCpuNanos(Outcome.FULL));
        owedCpuNanos = Math.min(most, Math.max(0, owedCpuNanos + cpuNanos));
    }

    /** Whether connections are being refused. */
    public boolean refusing() {
        return refusing;
    }

    /** Whether delay has lasted although no session begins: what runs now is made of sessions under way alone. */
    public boolean closed() {
        return refusingSeconds >= CLOSED_AFTER_SECONDS && standingOfTarget > CLOSED;
    }

    /** By what the control multiplies the CPUs: 1 where learnt costs are right. */
    public double factor() {
        return Math.exp(correction);
    }

    /** New sessions that a second can carry. */
    public long newPerSecond() {
        return (long) (cpus * factor() * SECOND / costs.sessionCpuNanos(Outcome.FULL));
    }

    /** CPU time per second of all sessions that would begin, refused ones included. */
    public double offeredCpus() {
        return offeredCpus;
    }
}
