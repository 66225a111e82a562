package dev.loadline.guard;

import dev.loadline.guard.policy.Admission;
import dev.loadline.guard.policy.Costs;
import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Objective;
import dev.loadline.guard.policy.Outcome;
import dev.loadline.guard.policy.Priority;
import dev.loadline.guard.policy.Purse;
import dev.loadline.guard.policy.Shedding;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;

/** The state that {@code policy} decides by, under one lock. Thread-safe. */
final class LockedPolicy {
    private final double pageShare;
    private final Costs costs;
    private final Delay delay;
    private final Admission admission;
    private final Shedding shedding = new Shedding();
    private final Purse pages = new Purse();
    private volatile boolean shed;
    private volatile boolean refusing;
    private volatile boolean pressed;
    private volatile double cpus = 1;
    /** What a test has in place of a measured delay, per target. */
    private double givenOfTarget = Double.NaN;

    /** @param events that the first reply of a session takes */
    LockedPolicy(GuardSettings settings, double events, long nowNanos) {
        pageShare = settings.pageShare();
        costs = new Costs(settings.fullCost().toNanos(), settings.resumedCost().toNanos());
        delay = new Delay(settings.objective(), events);
        admission = new Admission(costs, nowNanos);
    }

    /** CPUs at hand, as last measured. */
    double cpus() {
        return cpus;
    }

    /**
     * @param claims whether it claims a session
     * @param servedOfLate whether its client was
     * @param underWay events that have a worker or wait for one
     * @param turnNanos delay until its turn
     */
    synchronized Verdict decide(Candidate candidate, boolean claims, boolean servedOfLate, long nowNanos, int underWay, double turnNanos,
                                boolean canRestrict) {
        double ofTarget = Double.isNaN(givenOfTarget) ? delay.nanos(underWay, turnNanos) / delay.targetNanos() : givenOfTarget;
        Admission.Decision decision = claims
            ? admission.claim(nowNanos, candidate.customer(), candidate.standing(), ofTarget, canRestrict)
            : admission.fresh(nowNanos, candidate.customer(), servedOfLate, ofTarget);
        candidate.charged(decision.chargedCpuNanos());
        refuses(ofTarget);
        return decision.verdict();
    }

    /** In place of what is measured, from now on: a test cannot make threads wait for just so long. */
    synchronized void giveDelay(double ofTarget) {
        givenOfTarget = ofTarget;
    }

    synchronized void objective(Objective objective) {
        delay.objective(objective);
    }

    synchronized Objective objective() {
        return delay.objective();
    }

    boolean refusing() {
        return refusing;
    }

    /** Whether CPU time is short enough to hold against an address what its claims were: forged ones would take all that the objective leaves. */
    boolean pressed() {
        return pressed;
    }

    private void refuses(double ofTarget) {
        refusing = admission.refusing();
        pressed = refusing || ofTarget >= Admission.LEAST_DELAY;
    }

    /** CPU time of a full handshake. */
    synchronized double handshakeCpuNanos() {
        return costs.handshakeCpuNanos(Outcome.FULL);
    }

    /** Whether a refusal may be a page; if so, that is spent. */
    synchronized boolean affordsPage(long nowNanos) {
        return pages.takes(costs.handshakeCpuNanos(Outcome.FULL), pageShare * cpus, nowNanos);
    }

    /** It is known what a connection was that had been let in. */
    synchronized void settle(Candidate candidate, Outcome outcome, long spentCpuNanos) {
        Verdict verdict = candidate.verdict();
        if (verdict != null && !verdict.refuses()) {
            admission.settle(candidate.chargedCpuNanos(), candidate.standing(), outcome, spentCpuNanos);
        }
    }

    /** A handshake of a session ended. @param standsFor as in {@link Costs#handshake} */
    synchronized void learn(Candidate candidate, Outcome outcome, int standsFor, long cpuNanos) {
        costs.handshake(outcome, candidate.standing() != Standing.KNOWN, standsFor, cpuNanos);
    }

    /** Whether any request is being shed. */
    boolean shedding() {
        return shed;
    }

    synchronized boolean sheds(Priority priority) {
        return shedding.sheds(priority);
    }

    /** A tick ended. @param turnNanos the delay until a turn */
    synchronized void passed(long nowNanos, Measured measured, double turnNanos) {
        costs.passed(measured.seconds(), measured.reportedCpuNanos(), measured.reportedToAnyCpuNanos(), measured.tick().cpuNanos(), measured.cpus());
        cpus = measured.cpus();
        delay.passed(measured.tick(), turnNanos);
        double target = delay.targetNanos();
        double standing = delay.standingNanos() / target;
        admission.passed(nowNanos, measured.seconds(), delay.cpusInEffect(), delay.beginNanos() / target, delay.lastingNanos() / target, standing);
        shedding.passed(measured.seconds(), admission.closed(), standing);
        shed = shedding.level() > 0;
        refuses(delay.beginNanos() / target);
    }

    /** The figures of now, taken together. */
    synchronized Snapshot snapshot() {
        return new Snapshot(admission.refusing(), admission.newPerSecond(), admission.offeredCpus(),
            costs.sessionCpuNanos(Outcome.FULL), costs.sessionCpuNanos(Outcome.RESUMED), costs.sessionCpuNanos(Outcome.FAILED),
            costs.learnt(), admission.factor(), delay.beginNanos(), delay.targetNanos(), shedding.level());
    }

    record Snapshot(boolean refusing, long newPerSecond, double offeredCpus, double fullCpuNanos, double resumedCpuNanos,
                    double failedCpuNanos, long learnt, double factor, double delayNanos, double targetNanos, double shedLevel) {}
}
