package dev.loadline.guard.policy;

/**
 * Who gets in. Not thread-safe: the guard calls it under one lock.
 *
 * <p>Buckets of work, in this order: those who resume and are <em>known</em>, whose session is under way;
 * those who resume and come back, whose session begins; new connections of each {@link Customer} class.
 * Each drains at what the ones before it leave of the CPUs. While nothing is refused a bucket may stand as
 * deep as half an interval's work, so that arrivals which come in clusters are not taken for overload.
 *
 * <p>While refusing it may be {@value #PACED_SECONDS} s deep: what fits is then admitted evenly; no session
 * begins while {@value #MOST_WAITING_NOW} times as many threads wait as shall on average, so that no queue
 * grows; and a session that
 * begins is charged with the connections that will follow it, which the buckets of those who resume see
 * only when they come: without that, a crowd that comes at once would be let in until its second
 * connections overload the server.
 *
 * <p>A claim is charged what claims like it turned out to cost of late, until it has turned out itself: if
 * most are forged, they cost next to nothing, and keep out neither those who really come back nor new ones.
 * Nor is one served as new then before those who claim nothing.
 */
public final class Admission {
    /** Depth of the buckets while refusing, in seconds of all CPUs. */
    static final double PACED_SECONDS = 0.05;
    /** The same for those who are known: their sessions are under way, a cluster of them is normal. */
    static final double KNOWN_PACED_SECONDS = 0.25;
    /**
     * Waiting at this moment, per target, from which no session begins while refusing. With 1 the queue would often
     * be empty soon after; with 3 response times scatter as widely as with a larger target, for less throughput.
     */
    static final double MOST_WAITING_NOW = 1.5;
    /** Waiting for a CPU or a thread that lasts, per target, from which those who are known are held back too. */
    static final double KNOWN_PATIENCE = 5;
    /** Refusing those who begin comes first: sessions under way are held back when that did not help for so long. */
    static final double KNOWN_GRACE_SECONDS = 2;
    /** Depth of the buckets otherwise, in intervals: more would let a crowd in that takes longer than that to serve. */
    private static final double CALM_SHARE = 0.5;
    /** Time of calm that ends refusing. */
    private static final double CALM_SECONDS = 1;
    /**
     * Time of waiting that begins it, and waiting, per target. What a collection leaves behind is over sooner, and
     * random arrivals at nine tenths of what can be served make so many wait at times.
     */
    private static final double CROWDED_SECONDS = 2.5;
    private static final double CROWDED_WAITING = 2;
    private static final double DEMAND_SECONDS = 2;
    private static final double MOST_FOLLOWING = 10;
    /** When fewer claims than this were good of late, tickets are being forged, or all have become stale at once. */
    private static final double TRUSTED = 0.9;
    /** A full handshake for one who may well not have the session needs room for so many, refusing or not: new ones go before. */
    private static final double DOUBTFUL_ROOM = 5;
    /** Time after which a session that began weighs a third of what it did. */
    private static final double FOLLOWING_SECONDS = 30;
    private static final int CUSTOMERS = Customer.values().length;

    private final double intervalSeconds;
    private final double resumedCeiling;
    private final Costs costs;

    private final WorkBucket known;
    private final WorkBucket returning;
    private final GoodShare knownGood = new GoodShare();
    private final GoodShare returningGood = new GoodShare();
    private final WorkBucket begun;
    private final WorkBucket[] fresh = new WorkBucket[CUSTOMERS];
    private final double[] freshCpus = new double[CUSTOMERS];
    private final double[] freshDemandCpus = new double[CUSTOMERS];
    private final double[] freshOffered = new double[CUSTOMERS];
    private double knownCpus;
    private double knownDemandCpus;
    private double knownOffered;
    private double returningCpus;
    private double returningDemandCpus;
    private double returningOffered;
    private double followed;
    private double began;
    private double cpus = 1;
    private double factor = 1;
    private boolean refusing;
    private double refusingSeconds;
    private int refusedNow;
    private int refusedByBudget;
    private double calmSeconds;
    private double crowdedSeconds;
    private double lastingContentionOfTarget;
    private double offeredCpus;

    /**
     * @param intervalSeconds k
     * @param resumedCeiling share of the CPUs that resumed connections may take
     */
    public Admission(double intervalSeconds, double resumedCeiling, Costs costs, long nowNanos) {
        this.intervalSeconds = intervalSeconds;
        this.resumedCeiling = resumedCeiling;
        this.costs = costs;
        known = new WorkBucket(nowNanos);
        returning = new WorkBucket(nowNanos);
        begun = new WorkBucket(nowNanos);
        for (int i = 0; i < CUSTOMERS; i++) {
            fresh[i] = new WorkBucket(nowNanos);
        }
        share();
    }

    /**
     * Decides about a connection that claims nothing. If it is admitted, it is charged as full.
     *
     * @param waitingOfTarget waiting at this moment, per what it may be
     */
    public Verdict fresh(long nowNanos, Customer customer, double waitingOfTarget) {
        int i = customer.ordinal();
        double cost = costs.fullCpuNanos();
        freshOffered[i] += cost;
        fresh[i].drain(nowNanos, freshCpus[i]);
        if (open(waitingOfTarget) && fresh[i].fits(cost, depth(PACED_SECONDS)) && mayBegin(nowNanos, cost)) {
            fresh[i].charge(cost, most());
            begins(cost, 1);
            return Verdict.ADMIT;
        }
        refused(waitingOfTarget);
        return Verdict.REFUSE_BUDGET;
    }

    /** Whether a session may begin whose first connection costs this. */
    private boolean mayBegin(long nowNanos, double cost) {
        begun.drain(nowNanos, cpus * factor);
        return !refusing || begun.fits(cost, depth(PACED_SECONDS));
    }

    /** A session begins, as likely as this: it is charged with what will follow, too. */
    private void begins(double cost, double likely) {
        begun.charge(cost + likely * following() * costs.resumedCpuNanos(), most());
        began += likely;
    }

    /** Connections that follow the first one of a session. */
    private double following() {
        return Math.min(MOST_FOLLOWING, followed / Math.max(1, began));
    }

    /**
     * Decides about a connection that claims a session. {@link Verdict#ADMIT} charges it as full,
     * {@link Verdict#RESUME_ONLY} as claims like it cost, until {@link #settle} knows better.
     *
     * @param standing returning or known
     * @param waitingOfTarget waiting at this moment, per what it may be
     * @param canRestrict whether the engine can be told to resume only
     */
    public Verdict claim(long nowNanos, Customer customer, Standing standing, double waitingOfTarget, boolean canRestrict) {
        boolean isKnown = standing == Standing.KNOWN;
        double cost = claimCpuNanos(standing);
        if (isKnown) {
            knownOffered += cost;
        } else {
            returningOffered += cost;
        }
        WorkBucket bucket = drained(isKnown, nowNanos);
        // A session under way is not broken for what a collection leaves behind, only for what lasts.
        boolean goesOn = isKnown
            ? !closed() && bucket.fits(cost, depth(KNOWN_PACED_SECONDS))
            : open(waitingOfTarget) && bucket.fits(cost, depth(PACED_SECONDS)) && mayBegin(nowNanos, cost);
        if (!goesOn) {
            refused(waitingOfTarget);
            return isKnown ? Verdict.REFUSE_CEILING : Verdict.REFUSE_BUDGET;
        }
        int i = customer.ordinal();
        double full = costs.fullCpuNanos();
        fresh[i].drain(nowNanos, freshCpus[i]);
        boolean asNew = mayBeServedAsNew(nowNanos, fresh[i], standing, waitingOfTarget, full);
        if (!asNew && !canRestrict) {
            refused(waitingOfTarget);
            return Verdict.REFUSE_BUDGET;
        }
        if (isKnown) {
            followed++;
        } else {
            begins(asNew ? full : cost, likely(standing));
        }
        (asNew ? fresh[i] : bucket).charge(asNew ? full : cost, most());
        return asNew ? Verdict.ADMIT : Verdict.RESUME_ONLY;
    }

    /** Whether a claim that goes on gets a full handshake if it is not good: doubtful ones only after all who claim nothing. */
    private boolean mayBeServedAsNew(long nowNanos, WorkBucket asFresh, Standing standing, double waitingOfTarget, double full) {
        if (likely(standing) >= TRUSTED) {
            return open(waitingOfTarget) && asFresh.fits(full, depth(PACED_SECONDS)) && (standing == Standing.KNOWN || mayBegin(nowNanos, full));
        }
        begun.drain(nowNanos, cpus * factor);
        double room = full * DOUBTFUL_ROOM;
        return waitingOfTarget * DOUBTFUL_ROOM < 1 && asFresh.fits(room, paced(PACED_SECONDS)) && begun.fits(room, paced(PACED_SECONDS));
    }

    /**
     * Corrects what was charged at admission by what the connection turned out to be.
     *
     * @param standing as it was when it was admitted
     * @param spentCpuNanos what a handshake took that failed: that is all the connection will cost
     */
    public void settle(Verdict verdict, Customer customer, Standing standing, Outcome outcome, long spentCpuNanos) {
        WorkBucket resumed = standing == Standing.KNOWN ? known : returning;
        WorkBucket charged = verdict == Verdict.RESUME_ONLY ? resumed : fresh[customer.ordinal()];
        double was = verdict == Verdict.RESUME_ONLY ? claimCpuNanos(standing) : costs.fullCpuNanos();
        double is = switch (outcome) {
            case FULL -> costs.fullCpuNanos();
            case RESUMED -> costs.resumedCpuNanos();
            case FAILED -> spentCpuNanos * costs.overhead();
        };
        if (outcome == Outcome.RESUMED && charged != resumed) {
            charged.charge(-was, most());
            resumed.charge(is, most());
        } else {
            charged.charge(is - was, most());
        }
        if (standing != Standing.KNOWN) {
            // A session has begun and will go on, or neither.
            double more = (outcome == Outcome.FAILED ? 0 : 1) - likely(standing);
            begun.charge(is - was + more * following() * costs.resumedCpuNanos(), most());
            began = Math.max(0, began + more);
        }
        switch (standing) {
            case NEW -> { }
            case RETURNING -> returningGood.add(outcome == Outcome.RESUMED);
            case KNOWN -> knownGood.add(outcome == Outcome.RESUMED);
        }
    }

    /** What a claim will cost, as far as others tell. */
    private double claimCpuNanos(Standing standing) {
        double good = likely(standing);
        return good * costs.resumedCpuNanos() + (1 - good) * Math.min(costs.failedCpuNanos(), costs.resumedCpuNanos());
    }

    /** How likely a connection is what it says that it is. */
    private double likely(Standing standing) {
        return switch (standing) {
            case NEW -> 1;
            case RETURNING -> returningGood.share();
            case KNOWN -> knownGood.share();
        };
    }

    /**
     * A tick ended: shares the CPUs out anew.
     *
     * @param cpus CPUs at hand
     * @param correction the closed loop
     */
    public void passed(long nowNanos, double seconds, double cpus, Correction correction) {
        drained(true, nowNanos);
        drained(false, nowNanos);
        for (int i = 0; i < CUSTOMERS; i++) {
            fresh[i].drain(nowNanos, freshCpus[i]);
        }
        double weight = 1 - Math.exp(-seconds / DEMAND_SECONDS);
        knownDemandCpus += (knownOffered / (seconds * 1e9) - knownDemandCpus) * weight;
        returningDemandCpus += (returningOffered / (seconds * 1e9) - returningDemandCpus) * weight;
        double offered = knownOffered + returningOffered;
        for (int i = 0; i < CUSTOMERS; i++) {
            freshDemandCpus[i] += (freshOffered[i] / (seconds * 1e9) - freshDemandCpus[i]) * weight;
            offered += freshOffered[i];
            freshOffered[i] = 0;
        }
        offeredCpus += (offered / (seconds * 1e9) - offeredCpus) * weight;
        knownOffered = 0;
        returningOffered = 0;
        double kept = Math.exp(-seconds / FOLLOWING_SECONDS);
        followed *= kept;
        began *= kept;
        this.cpus = cpus;
        factor = correction.factor();
        share();
        boolean calm = refusedNow == 0 || offeredCpus < 0.98 * cpus * factor;
        calmSeconds = calm && correction.waiting() <= correction.targetWaiting() ? calmSeconds + seconds : 0;
        lastingContentionOfTarget = correction.lastingContention() / correction.targetWaiting();
        crowdedSeconds = correction.lastingWaiting() > CROWDED_WAITING * correction.targetWaiting() ? crowdedSeconds + seconds : 0;
        if (crowdedSeconds >= CROWDED_SECONDS) {
            // The budget is not spent and yet threads wait: a cost is believed too low.
            refusing = true;
        }
        if (refusing && calmSeconds >= CALM_SECONDS) {
            refusing = false;
        }
        refusingSeconds = refusing ? refusingSeconds + seconds : 0;
        refusedNow = 0;
        refusedByBudget = 0;
    }

    private void share() {
        double all = cpus * factor;
        knownCpus = all * resumedCeiling;
        returningCpus = Math.max(0, knownCpus - knownDemandCpus);
        double left = Math.max(0, all - resumers());
        for (int i = 0; i < CUSTOMERS; i++) {
            freshCpus[i] = left;
            left = Math.max(0, left - freshDemandCpus[i]);
        }
    }

    /** What those who resume will take of the CPUs. */
    private double resumers() {
        return Math.min(knownDemandCpus + returningDemandCpus, knownCpus);
    }

    private WorkBucket drained(boolean isKnown, long nowNanos) {
        WorkBucket bucket = isKnown ? known : returning;
        bucket.drain(nowNanos, isKnown ? knownCpus : returningCpus);
        return bucket;
    }

    /** While refusing, who waits at this moment decides before the budget does: no queue grows. */
    private boolean open(double waitingOfTarget) {
        return !refusing || waitingOfTarget < MOST_WAITING_NOW;
    }

    private void refused(double waitingOfTarget) {
        refusing = true;
        refusedNow++;
        if (waitingOfTarget < MOST_WAITING_NOW) {
            refusedByBudget++;
        }
        calmSeconds = 0;
    }

    private double depth(double pacedSeconds) {
        return paced(refusing ? pacedSeconds : CALM_SHARE * intervalSeconds);
    }

    private double paced(double seconds) {
        return seconds * cpus * factor * 1e9;
    }

    /** Nobody owes more than a few intervals: after an error the guard is itself again soon. */
    private double most() {
        return 4 * intervalSeconds * cpus * factor * 1e9;
    }

    /** Whether connections are being refused. */
    public boolean refusing() {
        return refusing;
    }

    /** Of those refused since the last tick, the share that the budget kept out while nobody had to wait. */
    public double byBudget() {
        return refusedNow == 0 ? 0 : (double) refusedByBudget / refusedNow;
    }

    /**
     * Whether threads have waited for so long that not even those who resume are let in: what runs now is
     * made of established connections alone.
     */
    public boolean closed() {
        return refusingSeconds >= KNOWN_GRACE_SECONDS && lastingContentionOfTarget > KNOWN_PATIENCE;
    }

    /** N(k) of the paper for the interval that begins now: what is paced out is its unrounded value. */
    public long newPerInterval() {
        double resumers = resumers() * intervalSeconds * 1e9 / costs.resumedCpuNanos();
        return Formula.newConnections(intervalSeconds, cpus * factor, resumers,
            costs.resumedCpuNanos() / 1e9, costs.fullCpuNanos() / 1e9);
    }

    /** CPU time per second of all connections offered, refused ones included. */
    public double offeredCpus() {
        return offeredCpus;
    }
}
