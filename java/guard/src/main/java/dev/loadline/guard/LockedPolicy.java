package dev.loadline.guard;

import dev.loadline.guard.policy.Admission;
import dev.loadline.guard.policy.Correction;
import dev.loadline.guard.policy.Costs;
import dev.loadline.guard.policy.Customer;
import dev.loadline.guard.policy.Outcome;
import dev.loadline.guard.policy.Priority;
import dev.loadline.guard.policy.Purse;
import dev.loadline.guard.policy.Shedding;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;
import java.util.concurrent.atomic.LongAdder;

/** The state that {@code policy} decides by, under one lock. Thread-safe. */
final class LockedPolicy {
    private final double pageShare;
    private final Costs costs;
    private final Correction correction;
    private final Admission admission;
    private final Shedding shedding = new Shedding();
    private final Purse pages = new Purse();
    private final LongAdder[] requestCpuNanos = {new LongAdder(), new LongAdder(), new LongAdder()};
    private volatile boolean shed;
    private volatile double cpus = 1;

    LockedPolicy(GuardSettings settings, long nowNanos) {
        pageShare = settings.pageShare();
        costs = new Costs(settings.fullCost().toNanos(), settings.resumedCost().toNanos());
        correction = new Correction(settings.targetWaiting());
        admission = new Admission(settings.interval().toNanos() / 1e9, settings.resumedCeiling(), costs, nowNanos);
    }

    /** CPUs at hand, as last measured. */
    double cpus() {
        return cpus;
    }

    /** @param underWay events that are under way */
    synchronized Verdict fresh(long nowNanos, Customer customer, int underWay) {
        return admission.fresh(nowNanos, customer, waitingOfTarget(underWay));
    }

    /** @param underWay events that are under way */
    synchronized Verdict claim(long nowNanos, Customer customer, Standing standing, int underWay, boolean canRestrict) {
        return admission.claim(nowNanos, customer, standing, waitingOfTarget(underWay), canRestrict);
    }

    private double waitingOfTarget(int underWay) {
        return correction.waitingNow(underWay, cpus) / correction.targetWaiting();
    }

    synchronized boolean refusing() {
        return admission.refusing();
    }

    /** CPU time of a full handshake. */
    synchronized double handshakeCpuNanos() {
        return costs.handshakeCpuNanos();
    }

    /** Whether a refusal may be a page; if so, that is spent. */
    synchronized boolean affordsPage(long nowNanos) {
        return pages.takes(costs.handshakeCpuNanos(), pageShare * cpus, nowNanos);
    }

    /** It is known what a connection was that had been let in. */
    synchronized void settle(GuardedConnection connection, Outcome outcome, long spentCpuNanos) {
        Verdict verdict = connection.verdict();
        if (verdict != null && !verdict.refuses()) {
            admission.settle(verdict, connection.customer(), connection.standing(), outcome, spentCpuNanos);
        }
    }

    /** A handshake of a session ended. */
    synchronized void learn(Outcome outcome, long cpuNanos) {
        costs.handshake(outcome, cpuNanos);
    }

    /** Requests took so much of a CPU. */
    void requestsRan(Outcome outcome, long cpuNanos) {
        requestCpuNanos[outcome.ordinal()].add(cpuNanos);
    }

    /** Whether any request is being shed. */
    boolean shedding() {
        return shed;
    }

    synchronized boolean sheds(Priority priority) {
        return shedding.sheds(priority);
    }

    /** A tick ended. */
    synchronized void passed(long nowNanos, Measured measured) {
        for (Outcome outcome : Outcome.values()) {
            costs.requests(outcome, requestCpuNanos[outcome.ordinal()].sumThenReset());
        }
        costs.passed(measured.seconds(), measured.attributedCpuNanos(), measured.processCpuNanos(), measured.cpus());
        cpus = measured.cpus();
        correction.passed(measured.seconds(), measured.utilization(), measured.waiting(), measured.forTurn(),
            measured.competing(), admission.refusing(), admission.byBudget());
        admission.passed(nowNanos, measured.seconds(), measured.cpus(), correction);
        shedding.passed(measured.seconds(), admission.closed(), correction.contention() / correction.targetWaiting());
        shed = shedding.level() > 0;
    }

    /** The figures of now, taken together. */
    synchronized Snapshot snapshot() {
        return new Snapshot(admission.refusing(), admission.newPerInterval(), admission.offeredCpus(),
            costs.fullCpuNanos(), costs.resumedCpuNanos(), costs.failedCpuNanos(), costs.learnt(), correction.factor(),
            correction.waiting(), shedding.level());
    }

    record Snapshot(boolean refusing, long newPerInterval, double offeredCpus, double fullCpuNanos,
                    double resumedCpuNanos, double failedCpuNanos, long learnt, double factor, double waiting, double shedLevel) {}
}
