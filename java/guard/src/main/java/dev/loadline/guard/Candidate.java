package dev.loadline.guard;

import dev.loadline.guard.policy.Customer;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;

/** With whom a session may begin, so that the policy is asked: a connection or a request. What it is, and what was decided. */
abstract sealed class Candidate permits GuardedConnection, GuardedRequest {
    private Customer customer = Customer.SILVER;
    private Standing standing = Standing.NEW;
    private Verdict verdict;
    private double chargedCpuNanos;

    final Customer customer() {
        return customer;
    }

    final void customer(Customer customer) {
        this.customer = customer;
    }

    final Standing standing() {
        return standing;
    }

    final void standing(Standing standing) {
        this.standing = standing;
    }

    /** What was decided; null when nobody was asked. */
    final Verdict verdict() {
        return verdict;
    }

    final void verdict(Verdict verdict) {
        this.verdict = verdict;
    }

    /** What the policy charged it with. */
    final double chargedCpuNanos() {
        return chargedCpuNanos;
    }

    final void charged(double cpuNanos) {
        chargedCpuNanos = cpuNanos;
    }
}
