package dev.loadline.guard.policy;

/**
 * Who gets in. Not thread-safe: the guard calls it under one lock.
 *
 * <p>Four buckets of work: one for those who resume, one for new connections of each {@link Customer}
 * class, in that order. Each drains at what the ones before it leave of the CPUs. While nothing is
 * refused a bucket may stand as deep as one interval's work, so that arrivals which come in clusters are
 * not taken for overload. While refusing it may be {@value #PACED_SECONDS} s deep: what fits is then
 * admitted evenly; and nobody is admitted while the server's threads wait longer than they may, so that
 * no queue grows.
 */
public final class Admission {
    /** Depth of the buckets while refusing, in seconds of all CPUs. */
    static final double PACED_SECONDS = 0.05;
    /** The same for those who resume: their sessions are under way, a cluster of them is normal. */
    static final double RESUMED_PACED_SECONDS = 0.25;
    /** How much longer threads may wait before those who resume are held back too. */
    static final double RESUMED_PATIENCE = 3;
    /** Time of calm that ends refusing, and time of waiting that begins it. */
    private static final double CALM_SECONDS = 0.75;
    private static final double CROWDED_SECONDS = 0.75;
    private static final double CROWDED_WAITING = 2;
    private static final double DEMAND_SECONDS = 2;
    private static final int CUSTOMERS = Customer.values().length;

    private final double intervalSeconds;
    private final double resumedCeiling;
    private final Costs costs;

    private final WorkBucket resumed;
    private final WorkBucket[] fresh = new WorkBucket[CUSTOMERS];
    private final double[] freshCpus = new double[CUSTOMERS];
    private final double[] freshDemandCpus = new double[CUSTOMERS];
    private final double[] freshOffered = new double[CUSTOMERS];
    private double resumedCpus;
    private double resumedDemandCpus;
    private double resumedOffered;
    private double cpus = 1;
    private double factor = 1;
    private boolean refusing;
    private boolean refusedNow;
    private double calmSeconds;
    private double crowdedSeconds;
    private double waitingOfTarget;
    private double offeredCpus;

    /**
     * @param intervalSeconds k
     * @param resumedCeiling share of the CPUs that resumed connections may take
     */
    public Admission(double intervalSeconds, double resumedCeiling, Costs costs, long nowNanos) {
        this.intervalSeconds = intervalSeconds;
        this.resumedCeiling = resumedCeiling;
        this.costs = costs;
        resumed = new WorkBucket(nowNanos);
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
        if (open(waitingOfTarget) && fresh[i].fits(cost, depth(PACED_SECONDS))) {
            fresh[i].charge(cost, most());
            return Verdict.ADMIT;
        }
        refused();
        return Verdict.REFUSE_BUDGET;
    }

    /**
     * Decides about a connection that claims a session. {@link Verdict#ADMIT} charges it as full,
     * {@link Verdict#RESUME_ONLY} as resumed, until {@link #settle} knows better.
     *
     * @param waitingOfTarget waiting at this moment, per what it may be
     * @param canRestrict whether the engine can be told to resume only
     */
    public Verdict claim(long nowNanos, Customer customer, double waitingOfTarget, boolean canRestrict) {
        double cost = costs.resumedCpuNanos();
        resumedOffered += cost;
        resumed.drain(nowNanos, resumedCpus);
        if (!open(waitingOfTarget / RESUMED_PATIENCE) || !resumed.fits(cost, depth(RESUMED_PACED_SECONDS))) {
            refused();
            return Verdict.REFUSE_CEILING;
        }
        int i = customer.ordinal();
        double full = costs.fullCpuNanos();
        fresh[i].drain(nowNanos, freshCpus[i]);
        if (open(waitingOfTarget) && fresh[i].fits(full, depth(PACED_SECONDS))) {
            fresh[i].charge(full, most());
            return Verdict.ADMIT;
        }
        if (canRestrict) {
            resumed.charge(cost, most());
            return Verdict.RESUME_ONLY;
        }
        refused();
        return Verdict.REFUSE_BUDGET;
    }

    /**
     * Corrects what was charged at admission by what the connection turned out to be.
     *
     * @param spentCpuNanos what a handshake took that failed: that is all the connection will cost
     */
    public void settle(Verdict verdict, Customer customer, Outcome outcome, long spentCpuNanos) {
        WorkBucket charged = verdict == Verdict.RESUME_ONLY ? resumed : fresh[customer.ordinal()];
        double was = verdict == Verdict.RESUME_ONLY ? costs.resumedCpuNanos() : costs.fullCpuNanos();
        switch (outcome) {
            case FULL -> charged.charge(costs.fullCpuNanos() - was, most());
            case RESUMED -> {
                if (charged != resumed) {
                    charged.charge(-was, most());
                    resumed.charge(costs.resumedCpuNanos(), most());
                }
            }
            case FAILED -> charged.charge(spentCpuNanos * costs.overhead() - was, most());
        }
    }

    /**
     * A tick ended: shares the CPUs out anew.
     *
     * @param cpus CPUs at hand
     * @param correction the closed loop
     */
    public void passed(long nowNanos, double seconds, double cpus, Correction correction) {
        resumed.drain(nowNanos, resumedCpus);
        for (int i = 0; i < CUSTOMERS; i++) {
            fresh[i].drain(nowNanos, freshCpus[i]);
        }
        double weight = 1 - Math.exp(-seconds / DEMAND_SECONDS);
        resumedDemandCpus += (resumedOffered / (seconds * 1e9) - resumedDemandCpus) * weight;
        double offered = resumedOffered;
        for (int i = 0; i < CUSTOMERS; i++) {
            freshDemandCpus[i] += (freshOffered[i] / (seconds * 1e9) - freshDemandCpus[i]) * weight;
            offered += freshOffered[i];
            freshOffered[i] = 0;
        }
        offeredCpus += (offered / (seconds * 1e9) - offeredCpus) * weight;
        resumedOffered = 0;
        this.cpus = cpus;
        factor = correction.factor();
        share();
        boolean calm = !refusedNow || offeredCpus < 0.98 * cpus * factor;
        calmSeconds = calm && correction.waiting() <= correction.targetWaiting() ? calmSeconds + seconds : 0;
        waitingOfTarget = correction.waiting() / correction.targetWaiting();
        crowdedSeconds = waitingOfTarget > CROWDED_WAITING ? crowdedSeconds + seconds : 0;
        if (crowdedSeconds >= CROWDED_SECONDS) {
            // The budget is not spent and yet threads wait: a cost is believed too low.
            refusing = true;
        }
        if (refusing && calmSeconds >= CALM_SECONDS) {
            refusing = false;
        }
        refusedNow = false;
    }

    private void share() {
        double all = cpus * factor;
        resumedCpus = all * resumedCeiling;
        double left = Math.max(0, all - Math.min(resumedDemandCpus, resumedCpus));
        for (int i = 0; i < CUSTOMERS; i++) {
            freshCpus[i] = left;
            left = Math.max(0, left - freshDemandCpus[i]);
        }
    }

    /** While refusing, who waits at this moment decides before the budget does: no queue grows. */
    private boolean open(double waitingOfTarget) {
        return !refusing || waitingOfTarget < 1;
    }

    private void refused() {
        refusing = true;
        refusedNow = true;
        calmSeconds = 0;
    }

    private double depth(double pacedSeconds) {
        return (refusing ? pacedSeconds : intervalSeconds) * cpus * factor * 1e9;
    }

    /** Nobody owes more than a few intervals: after an error the guard is itself again soon. */
    private double most() {
        return 4 * intervalSeconds * cpus * factor * 1e9;
    }

    /** Whether connections are being refused. */
    public boolean refusing() {
        return refusing;
    }

    /**
     * Whether threads have waited for so long that not even those who resume are let in: what runs now is
     * made of established connections alone.
     */
    public boolean closed() {
        return refusing && waitingOfTarget > RESUMED_PATIENCE;
    }

    /** N(k) of the paper for the interval that begins now: what is paced out is its unrounded value. */
    public long newPerInterval() {
        double resumers = Math.min(resumedDemandCpus, resumedCpus) * intervalSeconds * 1e9 / costs.resumedCpuNanos();
        return Formula.newConnections(intervalSeconds, cpus * factor, resumers,
            costs.resumedCpuNanos() / 1e9, costs.fullCpuNanos() / 1e9);
    }

    /** CPU time per second of all connections offered, refused ones included. */
    public double offeredCpus() {
        return offeredCpus;
    }
}
