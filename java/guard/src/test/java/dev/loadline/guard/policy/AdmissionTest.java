package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs of the admission in simulated time, ticks of a quarter of a second; delay is per target. */
class AdmissionTest {
    private static final long MS = 1_000_000;
    private static final long TICK = 250 * MS;
    /** More than its target, and at it the CPUs are just used. */
    private static final double AT_TARGET = 1;

    private final Costs costs = new Costs(10 * MS, 2 * MS);
    private final Admission admission = new Admission(costs, 0);
    private long now;
    private int admitted;
    private int refused;

    @BeforeEach
    void oneCpu() {
        admission.passed(0, 0.25, 1, 0, 0, 0);
    }

    private Verdict fresh(Customer customer, double delay) {
        return admission.fresh(now, customer, false, delay).verdict();
    }

    private Verdict claim(Standing standing, double delay) {
        return admission.claim(now, Customer.SILVER, standing, delay, true).verdict();
    }

    private void tick(double cpus, double delay, double standing) {
        now += TICK;
        admission.passed(now, 0.25, cpus, delay, 0, standing);
    }

    /** Lets time pass with arrivals at a steady rate of new connections. */
    private void offer(double perSecond, double seconds, double cpus, double delay) {
        long end = now + (long) (seconds * 1e9);
        long tick = now + TICK;
        double next = now;
        while (now < end) {
            if (next <= tick) {
                now = (long) next;
                if (fresh(Customer.SILVER, delay) == Verdict.ADMIT) {
                    admitted++;
                } else {
                    refused++;
                }
                next += 1e9 / perSecond;
            } else {
                now = tick;
                admission.passed(now, 0.25, cpus, delay, 0, 0);
                tick += TICK;
            }
        }
        now = end;
    }

    @Test
    void nobody_is_refused_while_delay_is_below_its_target_whatever_costs_say() {
        offer(1_000, 60, 1, 0.99);
        assertEquals(0, refused);
        assertFalse(admission.refusing());
    }

    @Test
    void nobody_is_refused_for_delay_alone_that_does_not_last() {
        offer(80, 60, 1, 3);
        assertEquals(0, refused, "80/s of 10 ms are four fifths of the CPU: what a collection leaves behind");
    }

    @Test
    void under_overload_what_can_be_served_is_admitted_and_no_more() {
        offer(500, 5, 1, AT_TARGET);
        admitted = 0;
        offer(500, 60, 1, AT_TARGET);
        assertEquals(6_000, admitted, 60);
        assertTrue(admission.refusing());
    }

    @Test
    void under_overload_admissions_are_even() {
        offer(500, 5, 1, AT_TARGET);
        for (int i = 0; i < 40; i++) {
            admitted = 0;
            offer(500, 0.25, 1, AT_TARGET);
            assertEquals(25, admitted, 3);
        }
    }

    @Test
    void the_pace_falls_with_delay_and_nobody_begins_at_the_limit() {
        offer(500, 5, 1, AT_TARGET);
        for (double delay : new double[] {1.5, 0.5}) {
            offer(500, 0.5, 1, delay);
            admitted = 0;
            offer(500, 1, 1, delay);
            assertEquals(100 * (2 / delay - 1), admitted, 12, "at " + delay);
        }
        now += 1_000 * MS;
        assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.GOLD, Admission.LIMIT));
        assertEquals(Verdict.REFUSE_BUDGET, claim(Standing.RETURNING, Admission.LIMIT));
    }

    @Test
    void a_cost_that_is_believed_too_low_or_too_high_is_corrected_by_the_delay() {
        offer(500, 60, 1, 1.5);
        assertTrue(admission.factor() < 0.7, "factor " + admission.factor());
        offer(500, 60, 1, 0.5);
        assertTrue(admission.factor() > 0.9, "factor " + admission.factor());
    }

    @Test
    void delay_that_lasts_begins_refusing_even_with_nothing_owed() {
        admission.passed(now, 0.25, 1, 3, 1.2, 0);
        assertTrue(admission.refusing());
        assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.SILVER, 3));
    }

    @Test
    void a_second_cpu_is_used_within_a_second() {
        offer(500, 10, 1, AT_TARGET);
        offer(500, 1, 2, AT_TARGET);
        admitted = 0;
        offer(500, 1, 2, AT_TARGET);
        assertEquals(200, admitted, 8);
        offer(500, 1, 1, AT_TARGET);
        admitted = 0;
        offer(500, 1, 1, AT_TARGET);
        assertEquals(100, admitted, 8);
    }

    @Test
    void a_session_under_way_goes_on_when_nobody_may_begin() {
        offer(500, 5, 1, AT_TARGET);
        assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.SILVER, 3));
        assertEquals(Verdict.RESUME_ONLY, claim(Standing.KNOWN, 2 * Admission.LIMIT));
    }

    @Test
    void a_session_under_way_whose_ticket_is_stale_is_served_as_new_before_others() {
        offer(500, 5, 1, AT_TARGET);
        assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.GOLD, 3));
        assertEquals(Verdict.ADMIT, claim(Standing.KNOWN, 3));
    }

    @Test
    void a_claim_without_room_is_refused_where_engines_cannot_be_told_to_resume_only() {
        offer(500, 5, 1, AT_TARGET);
        fresh(Customer.SILVER, 3);
        assertEquals(Verdict.REFUSE_BUDGET, admission.claim(now, Customer.SILVER, Standing.KNOWN, 5, false).verdict());
    }

    @Test
    void sessions_under_way_are_held_back_only_when_refusing_others_did_not_help_for_seconds() {
        offer(500, 1, 1, AT_TARGET);
        for (int i = 0; i < 4; i++) {
            assertEquals(Verdict.RESUME_ONLY, claim(Standing.KNOWN, 8));
            assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.SILVER, 8));
            tick(1, 8, 4);
        }
        for (int i = 0; i < 4; i++) {
            assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.SILVER, 8));
            tick(1, 8, 4);
        }
        assertEquals(Verdict.REFUSE_CEILING, claim(Standing.KNOWN, 8));
        tick(1, 8, 2.9);
        assertEquals(Verdict.RESUME_ONLY, claim(Standing.KNOWN, 8));
    }

    @Test
    void sessions_under_way_are_never_held_back_while_others_begin() {
        for (int seed = 0; seed < 200; seed++) {
            var random = new Random(seed);
            var some = new Admission(costs, 0);
            long at = 0;
            for (int i = 0; i < 5_000; i++) {
                at += random.nextInt(5_000_000);
                double delay = 6 * random.nextDouble();
                boolean closed = some.claim(at, Customer.SILVER, Standing.KNOWN, delay, true).verdict().refuses();
                boolean begins = some.fresh(at, Customer.GOLD, false, delay).verdict() == Verdict.ADMIT;
                assertFalse(closed && begins && delay >= Admission.LIMIT, "seed " + seed);
                if (i % 50 == 0) {
                    some.passed(at, 0.25, 1, delay, 6 * random.nextDouble(), 6 * random.nextDouble());
                }
            }
        }
    }

    @Test
    void who_comes_back_goes_before_new_ones() {
        offer(500, 5, 1, AT_TARGET);
        int returned = 0;
        admitted = 0;
        for (int tick = 0; tick < 80; tick++) {
            for (int i = 0; i < 250; i++) {
                now += MS;
                if (i % 5 < 3) {
                    Admission.Decision back = admission.claim(now, Customer.SILVER, Standing.RETURNING, AT_TARGET, true);
                    if (!back.verdict().refuses()) {
                        admission.settle(back.chargedCpuNanos(), Standing.RETURNING, Outcome.RESUMED, 2 * MS);
                        returned += tick >= 40 ? 1 : 0;
                    }
                } else if (fresh(Customer.SILVER, AT_TARGET) == Verdict.ADMIT && tick >= 40) {
                    admitted++;
                }
            }
            admission.passed(now, 0.25, 1, AT_TARGET, 0, 0);
        }
        // 600/s of 2 ms come back; one CPU has room for 500/s; 10 s.
        assertEquals(5_000, returned, 250);
        assertTrue(admitted < 100, "new ones got " + admitted);
    }

    /** As where a client has lost its ticket. */
    @Test
    void a_new_connection_of_a_client_that_was_served_goes_before_those_who_begin() {
        offer(500, 5, 1, AT_TARGET);
        assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.GOLD, 3));
        assertEquals(Verdict.ADMIT, admission.fresh(now, Customer.SILVER, true, 3).verdict());
        int admitted = 0;
        while (admission.fresh(now, Customer.SILVER, true, 3).verdict() == Verdict.ADMIT) {
            assertTrue(++admitted < 30, "behind one address there may be everybody");
        }
    }

    @Test
    void gold_goes_before_silver_and_silver_before_bronze() {
        int[] got = new int[3];
        for (int tick = 0; tick < 120; tick++) {
            for (int i = 0; i < 45; i++) {
                Customer customer = Customer.values()[i % 3];
                now += TICK / 45;
                boolean in = fresh(customer, AT_TARGET) == Verdict.ADMIT;
                got[customer.ordinal()] += in && tick >= 60 ? 1 : 0;
            }
            admission.passed(now, 0.25, 1, AT_TARGET, 0, 0);
        }
        // 60/s each, 100/s can be served: all gold, 40/s of silver, no bronze; 15 s.
        assertEquals(900, got[0], 30);
        assertEquals(600, got[1], 60);
        assertTrue(got[2] < 60, "bronze got " + got[2]);
    }

    @Test
    void a_claim_that_turned_out_full_is_charged_as_full() {
        offer(500, 5, 1, AT_TARGET);
        now += 1_000 * MS;
        Admission.Decision claimed = admission.claim(now, Customer.SILVER, Standing.RETURNING, AT_TARGET, true);
        assertEquals(Verdict.ADMIT, claimed.verdict());
        assertEquals(2 * MS, claimed.chargedCpuNanos());
        admission.settle(claimed.chargedCpuNanos(), Standing.RETURNING, Outcome.FULL, 5 * MS);
        assertEquals(4, room(), "of the five of fifty milliseconds");
    }

    @Test
    void what_fails_costs_what_it_took_and_not_what_it_claimed() {
        offer(500, 5, 1, AT_TARGET);
        now += 1_000 * MS;
        Admission.Decision first = admission.fresh(now, Customer.SILVER, false, AT_TARGET);
        admission.settle(first.chargedCpuNanos(), Standing.NEW, Outcome.FAILED, 0);
        assertEquals(5, room());
    }

    /** New connections that are admitted at this moment. */
    private int room() {
        int n = 0;
        while (fresh(Customer.SILVER, AT_TARGET) == Verdict.ADMIT) {
            n++;
        }
        return n;
    }

    /** What is to be settled at a time. */
    private record Due(long at, double charged, Standing standing, Outcome outcome, long spent) {}

    @Test
    void a_flood_of_forged_claims_keeps_out_neither_those_who_come_back_nor_new_ones() {
        var dues = new PriorityQueue<Due>(Comparator.comparingLong(Due::at));
        int[] came = new int[3];
        int[] in = new int[3];
        for (int i = 0; i < 40_000; i++) {
            now += MS;
            if (i % 250 == 0) {
                admission.passed(now, 0.25, 1, 0.9, 0, 0);
            }
            for (; !dues.isEmpty() && dues.peek().at <= now; dues.remove()) {
                Due due = dues.peek();
                admission.settle(due.charged, due.standing, due.outcome, due.spent);
            }
            // 1,000/s forged: an engine that only resumes refuses them after 20 ms, any other waits until they go.
            Admission.Decision forged = admission.claim(now, Customer.SILVER, Standing.RETURNING, 0.9, true);
            if (!forged.verdict().refuses()) {
                boolean asNew = forged.verdict() == Verdict.ADMIT;
                dues.add(new Due(now + (asNew ? 1_000 : 20) * MS, forged.chargedCpuNanos(), Standing.RETURNING, Outcome.FAILED,
                    asNew ? 8 * MS : MS / 10));
            }
            // 50/s of 2 ms come back, and go on with three more each; 33/s of 10 ms are new.
            if (i % 5 == 1) {
                Standing standing = i % 20 == 1 ? Standing.RETURNING : Standing.KNOWN;
                Admission.Decision decision = admission.claim(now, Customer.SILVER, standing, 0.9, true);
                count(standing, decision.verdict(), i, came, in);
                if (!decision.verdict().refuses()) {
                    dues.add(new Due(now + 20 * MS, decision.chargedCpuNanos(), standing, Outcome.RESUMED, MS));
                }
            }
            if (i % 30 == 2) {
                count(Standing.NEW, fresh(Customer.SILVER, 0.9), i, came, in);
            }
        }
        for (Standing standing : Standing.values()) {
            int i = standing.ordinal();
            assertTrue(in[i] >= 0.98 * came[i], standing + ": " + in[i] + " of " + came[i] + " were let in");
        }
    }

    /** After ten seconds. */
    private static void count(Standing standing, Verdict verdict, int milli, int[] came, int[] in) {
        if (milli >= 10_000) {
            came[standing.ordinal()]++;
            in[standing.ordinal()] += verdict.refuses() ? 0 : 1;
        }
    }

    @Test
    void claims_that_are_all_stale_are_served_as_new_at_nearly_the_rate_of_new_ones() {
        for (int i = 0; i < 40_000; i++) {
            now += MS;
            if (i % 250 == 0) {
                admission.passed(now, 0.25, 1, 0.9, 0, 0);
            }
            // 500/s, all from before the keys were changed.
            Admission.Decision stale = admission.claim(now, Customer.SILVER, Standing.RETURNING, 0.9, true);
            if (!stale.verdict().refuses()) {
                boolean asNew = stale.verdict() == Verdict.ADMIT;
                admission.settle(stale.chargedCpuNanos(), Standing.RETURNING, asNew ? Outcome.FULL : Outcome.FAILED, MS / 10);
                admitted += asNew && i >= 20_000 ? 1 : 0;
            }
        }
        assertTrue(admitted >= 20 * 70 && admitted <= 20 * 101, "served as new: " + admitted);
    }

    @Test
    void where_most_claims_are_forged_one_is_served_as_new_only_when_hardly_anything_is_owed() {
        for (int i = 0; i < 1_000; i++) {
            now += 5 * MS;
            Admission.Decision forged = admission.claim(now, Customer.SILVER, Standing.RETURNING, 0, true);
            admission.settle(forged.chargedCpuNanos(), Standing.RETURNING, Outcome.FAILED, MS / 10);
        }
        now += 1_000 * MS;
        assertFalse(admission.refusing());
        int served = 0;
        for (int i = 0; i < 30; i++) {
            served += claim(Standing.RETURNING, 0) == Verdict.ADMIT ? 1 : 0;
        }
        assertTrue(served >= 1 && served <= 3, "a second's forgeries at once would take seconds to serve: " + served);
        now += 1_000 * MS;
        assertEquals(Verdict.RESUME_ONLY, claim(Standing.RETURNING, 1.2), "those who claim nothing come first");
        assertEquals(Verdict.ADMIT, fresh(Customer.SILVER, 1.2));
    }

    @Test
    void that_nobody_happens_to_be_refused_ends_nothing_while_they_wait_for_too_long() {
        offer(500, 5, 1, AT_TARGET);
        assertTrue(admission.refusing());
        for (int i = 0; i < 12; i++) {
            tick(1, 1.2, 0);
        }
        assertTrue(admission.refusing(), "what is owed is little, and they wait for more than is aimed at");
        for (int i = 0; i < 5; i++) {
            tick(1, 0.9, 0);
        }
        assertFalse(admission.refusing());
    }

    @Test
    void where_more_comes_than_can_be_served_a_long_wait_need_not_last() {
        offer(150, 4, 1, AT_TARGET);
        offer(101, 2, 1, 0.1);
        assertFalse(admission.refusing(), "nothing is owed, and nobody waits");
        assertTrue(admission.offeredCpus() > 1);
        assertEquals(Verdict.ADMIT, fresh(Customer.SILVER, 1.9));
        assertEquals(Verdict.REFUSE_BUDGET, fresh(Customer.SILVER, Admission.LIMIT));
    }

    @Test
    void when_the_overload_is_over_everyone_is_admitted_again() {
        offer(500, 10, 1, AT_TARGET);
        assertTrue(admission.refusing());
        offer(50, 3, 1, 0.2);
        assertFalse(admission.refusing());
        refused = 0;
        offer(50, 10, 1, 0.2);
        assertEquals(0, refused);
    }

    @Test
    void after_an_error_that_owed_too_much_it_is_itself_again_soon() {
        offer(500, 2, 1, AT_TARGET);
        admission.settle(0, Standing.NEW, Outcome.FAILED, 3_600_000 * MS);
        now += 4_100 * MS;
        assertEquals(Verdict.ADMIT, fresh(Customer.SILVER, AT_TARGET));
    }

    @Test
    void random_histories_never_promise_more_than_the_cpus_do() {
        for (int seed = 0; seed < 200; seed++) {
            var random = new Random(seed);
            var some = new Admission(costs, 0);
            double cpus = 1 + random.nextInt(4);
            some.passed(0, 0.25, cpus, 1, 0, 0);
            long at = 0;
            long work = 0;
            for (int i = 0; i < 5_000; i++) {
                at += random.nextInt(5_000_000);
                Customer customer = Customer.values()[random.nextInt(3)];
                if (random.nextBoolean()) {
                    work += some.fresh(at, customer, false, 1).verdict() == Verdict.ADMIT ? 10 * MS : 0;
                } else {
                    Standing standing = random.nextBoolean() ? Standing.KNOWN : Standing.RETURNING;
                    Admission.Decision decision = some.claim(at, customer, standing, 1, true);
                    if (!decision.verdict().refuses()) {
                        some.settle(decision.chargedCpuNanos(), standing, Outcome.values()[1 + random.nextInt(2)], MS);
                    }
                }
                if (i % 100 == 0) {
                    some.passed(at, 0.25, cpus, 1, 0, 0);
                }
            }
            assertTrue(work <= at * cpus + cpus * 1e9, "seed " + seed);
        }
    }
}
