package dev.loadline.guard;

import dev.loadline.guard.policy.Customer;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;

/** With whom a session may begin, so that the policy is asked: a connection or a request. */
interface Candidate {
    Customer customer();

    Standing standing();

    /** What was decided; null when nobody was asked. */
    Verdict verdict();

    /** What the policy charged it with. */
    double chargedCpuNanos();

    void charged(double cpuNanos);
}
