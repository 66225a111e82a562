package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Runs of the admission in simulated time, ticks of a quarter of a second. */
class AdmissionTest {
    private static final long MS = 1_000_000;
    private static final long TICK = 250 * MS;

    private final Costs costs = new Costs(10 * MS, 2 * MS);
    private final Correction correction = new Correction(4);
    private final Admission admission = new Admission(1, 0.95, costs, 0);
    private long now;
    private int admitted;
    private int refused;

    /** Lets time pass with arrivals at a steady rate of new connections. */
    private void offer(double perSecond, double seconds, double cpus) {
        long end = now + (long) (seconds * 1e9);
        long tick = now + TICK;
        double next = now;
        while (now < end) {
            if (next <= tick) {
                now = (long) next;
                if (admission.fresh(now, Customer.SILVER, 0) == Verdict.ADMIT) {
                    admitted++;
                } else {
                    refused++;
                }
                next += 1e9 / perSecond;
            } else {
                now = tick;
                admission.passed(now, 0.25, cpus, correction);
                tick += TICK;
            }
        }
        now = end;
    }

    /** A tick ends in which a full CPU was measured, and so many waited. */
    private void tick(double waiting, double forTurn, boolean refusing, double byBudget) {
        correction.passed(0.25, 1, waiting, forTurn, 1, refusing, byBudget);
        now += TICK;
        admission.passed(now, 0.25, 1, correction);
    }

    @Test
    void nobody_is_refused_below_what_can_be_served() {
        offer(95, 60, 1);
        assertEquals(0, refused);
        assertFalse(admission.refusing());
    }

    @Test
    void arrivals_in_clusters_below_what_can_be_served_are_not_refused() {
        var random = new Random(7);
        for (int tick = 0; tick < 4_000; tick++) {
            // Poisson with 22.5 per tick: nine tenths of 100 per second.
            int arrivals = 0;
            for (double p = Math.exp(-22.5), sum = p, u = random.nextDouble(); u > sum && arrivals < 200; ) {
                p *= 22.5 / ++arrivals;
                sum += p;
            }
            for (int i = 0; i < arrivals; i++) {
                assertEquals(Verdict.ADMIT, admission.fresh(now + i * TICK / arrivals, Customer.SILVER, 0));
            }
            now += TICK;
            admission.passed(now, 0.25, 1, correction);
        }
    }

    @Test
    void under_overload_what_can_be_served_is_admitted_and_no_more() {
        offer(500, 5, 1);
        admitted = 0;
        offer(500, 60, 1);
        assertEquals(6_000, admitted, 60);
        assertTrue(admission.refusing());
    }

    @Test
    void under_overload_admissions_are_even() {
        offer(500, 5, 1);
        for (int i = 0; i < 40; i++) {
            admitted = 0;
            offer(500, 0.25, 1);
            assertEquals(25, admitted, 3);
        }
    }

    @Test
    void a_second_cpu_is_used_within_one_interval() {
        offer(500, 10, 1);
        offer(500, 1, 2);
        admitted = 0;
        offer(500, 1, 2);
        assertEquals(200, admitted, 8);
        offer(500, 1, 1);
        admitted = 0;
        offer(500, 1, 1);
        assertEquals(100, admitted, 8);
    }

    @Test
    void a_resumed_connection_is_admitted_when_the_budget_is_spent() {
        offer(500, 5, 1);
        assertEquals(Verdict.REFUSE_BUDGET, admission.fresh(now, Customer.SILVER, 0));
        assertEquals(Verdict.RESUME_ONLY, admission.claim(now, Customer.SILVER, Standing.KNOWN, 0, true));
    }

    @Test
    void a_claim_without_budget_is_refused_where_engines_cannot_be_told_to_resume_only() {
        offer(500, 5, 1);
        admission.fresh(now, Customer.SILVER, 0);
        assertEquals(Verdict.REFUSE_BUDGET, admission.claim(now, Customer.SILVER, Standing.KNOWN, 0, false));
    }

    @Test
    void resumed_connections_go_first() {
        for (int tick = 0; tick < 80; tick++) {
            for (int i = 0; i < 125; i++) {
                long at = now + i * 2 * MS;
                // 200 claims/s of 2 ms: 0.4 CPUs; 300 new/s of 10 ms.
                if (i % 5 < 2) {
                    Verdict verdict = admission.claim(at, Customer.SILVER, Standing.KNOWN, 0, true);
                    assertFalse(verdict.refuses());
                    admission.settle(verdict, Customer.SILVER, Standing.KNOWN, Outcome.RESUMED, 2 * MS);
                } else if (admission.fresh(at, Customer.SILVER, 0) == Verdict.ADMIT && tick >= 40) {
                    admitted++;
                }
            }
            now += TICK;
            admission.passed(now, 0.25, 1, correction);
        }
        assertEquals(600, admitted, 30);
        assertEquals(60, admission.newPerInterval(), 2);
    }

    @Test
    void resumed_connections_have_a_ceiling() {
        int passed = 0;
        for (int tick = 0; tick < 80; tick++) {
            for (int i = 0; i < 250; i++) {
                Verdict verdict = admission.claim(now + i * MS, Customer.SILVER, Standing.KNOWN, 0, true);
                if (!verdict.refuses()) {
                    admission.settle(verdict, Customer.SILVER, Standing.KNOWN, Outcome.RESUMED, 2 * MS);
                    passed += tick >= 40 ? 1 : 0;
                }
            }
            now += TICK;
            admission.passed(now, 0.25, 1, correction);
        }
        // 1,000/s of 2 ms offered, 0.95 CPUs may go to them: 475/s.
        assertEquals(4_750, passed, 100);
    }

    @Test
    void a_claim_that_was_not_good_costs_what_it_took_and_not_what_it_claimed() {
        offer(500, 5, 1);
        int passed = 0;
        for (int i = 0; i < 2_000; i++) {
            Verdict verdict = admission.claim(now, Customer.SILVER, Standing.KNOWN, 0, true);
            if (verdict == Verdict.RESUME_ONLY) {
                admission.settle(verdict, Customer.SILVER, Standing.KNOWN, Outcome.FAILED, 100_000);
                passed++;
            }
        }
        // The bucket of 0.25 s holds 2,500 of 0.1 ms, and only 125 of 2 ms.
        assertEquals(2_000, passed, 1);
    }

    /** What is to be settled at a time. */
    private record Due(long at, Verdict verdict, Standing standing, Outcome outcome, long spent) {}

    @Test
    void a_flood_of_forged_claims_keeps_out_neither_those_who_come_back_nor_new_ones() {
        var dues = new PriorityQueue<Due>(Comparator.comparingLong(Due::at));
        int[] came = new int[3];
        int[] in = new int[3];
        for (int i = 0; i < 40_000; i++) {
            now += MS;
            if (i % 250 == 0) {
                admission.passed(now, 0.25, 1, correction);
            }
            for (; !dues.isEmpty() && dues.peek().at <= now; dues.remove()) {
                Due due = dues.peek();
                admission.settle(due.verdict, Customer.SILVER, due.standing, due.outcome, due.spent);
            }
            // 1,000/s forged: an engine that only resumes refuses them after 20 ms, any other waits until they go.
            Verdict forged = admission.claim(now, Customer.SILVER, Standing.RETURNING, 0, true);
            if (!forged.refuses()) {
                boolean asNew = forged == Verdict.ADMIT;
                dues.add(new Due(now + (asNew ? 1_000 : 20) * MS, forged, Standing.RETURNING, Outcome.FAILED, asNew ? 8 * MS : MS / 10));
            }
            // 50/s of 2 ms come back, and go on with three more each; 33/s of 10 ms are new: 0.73 CPUs.
            if (i % 5 == 1) {
                Standing standing = i % 20 == 1 ? Standing.RETURNING : Standing.KNOWN;
                Verdict verdict = admission.claim(now, Customer.SILVER, standing, 0, true);
                count(standing, verdict, i, came, in);
                if (!verdict.refuses()) {
                    dues.add(new Due(now + 20 * MS, verdict, standing, Outcome.RESUMED, MS));
                }
            }
            if (i % 30 == 2) {
                count(Standing.NEW, admission.fresh(now, Customer.SILVER, 0), i, came, in);
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
                admission.passed(now, 0.25, 1, correction);
            }
            // 500/s, all from before the keys were changed.
            Verdict verdict = admission.claim(now, Customer.SILVER, Standing.RETURNING, 0, true);
            if (!verdict.refuses()) {
                boolean asNew = verdict == Verdict.ADMIT;
                admission.settle(verdict, Customer.SILVER, Standing.RETURNING, asNew ? Outcome.FULL : Outcome.FAILED, MS / 10);
                admitted += asNew && i >= 20_000 ? 1 : 0;
            }
        }
        // The rest fails at 0.1 ms each, a tenth of the CPU; a claim needs more room than a new connection, so that some is left.
        assertTrue(admitted >= 20 * 70 && admitted <= 20 * 101, "served as new: " + admitted);
    }

    @Test
    void returning_claims_that_were_not_good_leave_no_less_owed_than_before_them() {
        offer(500, 5, 1);
        now += 20 * MS;
        int room = room();
        offer(500, 2, 1);
        now += 20 * MS;
        for (int i = 0; i < 1_000; i++) {
            Verdict verdict = admission.claim(now, Customer.SILVER, Standing.RETURNING, 0, true);
            if (!verdict.refuses()) {
                admission.settle(verdict, Customer.SILVER, Standing.RETURNING, Outcome.FAILED, 100_000);
            }
        }
        assertTrue(room() <= room);
    }

    @Test
    void where_most_claims_are_forged_one_is_served_as_new_only_while_next_to_nobody_waits() {
        offer(500, 5, 1);
        for (int i = 0; i < 1_000; i++) {
            now += 5 * MS;
            Verdict verdict = admission.claim(now, Customer.SILVER, Standing.RETURNING, 0, true);
            if (!verdict.refuses()) {
                admission.settle(verdict, Customer.SILVER, Standing.RETURNING, Outcome.FAILED, MS / 10);
            }
        }
        now += 1_000 * MS;
        assertEquals(Verdict.RESUME_ONLY, admission.claim(now, Customer.SILVER, Standing.RETURNING, 0.5, true));
        assertEquals(Verdict.ADMIT, admission.fresh(now, Customer.SILVER, 0.5));
        now += 1_000 * MS;
        assertEquals(Verdict.ADMIT, admission.claim(now, Customer.SILVER, Standing.RETURNING, 0.1, true));
        // Nor in calm, when others would find the bucket deep: a second's forgeries would take seconds to serve.
        offer(0, 5, 1);
        assertFalse(admission.refusing());
        int served = 0;
        for (int i = 0; i < 30; i++) {
            served += admission.claim(now, Customer.SILVER, Standing.RETURNING, 0, true) == Verdict.ADMIT ? 1 : 0;
        }
        assertTrue(served >= 1 && served <= 5, "served as new at once: " + served);
    }

    /** New connections that are admitted at this moment. */
    private int room() {
        int n = 0;
        while (admission.fresh(now, Customer.SILVER, 0) == Verdict.ADMIT) {
            n++;
        }
        return n;
    }

    @Test
    void a_claim_that_turned_out_full_is_charged_as_full() {
        Verdict verdict = admission.claim(now, Customer.SILVER, Standing.KNOWN, 0, true);
        assertEquals(Verdict.ADMIT, verdict);
        admission.settle(verdict, Customer.SILVER, Standing.KNOWN, Outcome.FULL, 5 * MS);
        assertEquals(49, room(), "one of the fifty of half an interval was taken");
    }

    @Test
    void while_threads_wait_no_session_begins_and_those_under_way_go_on() {
        offer(500, 5, 1);
        now += 1_000 * MS;
        assertEquals(Verdict.REFUSE_BUDGET, admission.fresh(now, Customer.SILVER, 1.6));
        assertEquals(Verdict.REFUSE_BUDGET, admission.claim(now, Customer.SILVER, Standing.RETURNING, 1.6, true));
        assertEquals(Verdict.RESUME_ONLY, admission.claim(now, Customer.SILVER, Standing.KNOWN, 20, true));
        assertEquals(Verdict.ADMIT, admission.fresh(now, Customer.SILVER, 1.4));
    }

    @Test
    void when_threads_wait_for_seconds_sessions_under_way_are_held_back_too() {
        offer(500, 5, 1);
        for (int i = 0; i < 16; i++) {
            tick(40, 0, true, 1);
        }
        assertEquals(Verdict.REFUSE_CEILING, admission.claim(now, Customer.SILVER, Standing.KNOWN, 0, true));
    }

    @Test
    void handshakes_that_wait_for_their_turns_break_no_session() {
        offer(500, 5, 1);
        for (int i = 0; i < 16; i++) {
            tick(40, 38, true, 1);
        }
        assertEquals(Verdict.RESUME_ONLY, admission.claim(now, Customer.SILVER, Standing.KNOWN, 8, true));
    }

    @Test
    void sessions_under_way_are_held_back_only_when_refusing_others_did_not_help() {
        int ticks = 0;
        while (!admission.refusing()) {
            tick(40, 0, false, 0);
            assertTrue(++ticks < 40, "waiting alone begins refusing");
        }
        assertEquals(Verdict.REFUSE_BUDGET, admission.fresh(now, Customer.SILVER, 8));
        for (int i = 0; i < 6; i++) {
            assertEquals(Verdict.RESUME_ONLY, admission.claim(now, Customer.SILVER, Standing.KNOWN, 8, true));
            tick(40, 0, true, 0);
        }
        // The waiting is over: that it lasted is no reason any more.
        for (int i = 0; i < 8; i++) {
            tick(0, 0, true, 0);
        }
        assertEquals(Verdict.ADMIT, admission.claim(now, Customer.SILVER, Standing.KNOWN, 0, true));
    }

    @Test
    void who_comes_back_goes_behind_sessions_under_way_and_before_new_ones() {
        int returned = 0;
        for (int tick = 0; tick < 80; tick++) {
            for (int i = 0; i < 250; i++) {
                long at = now + i * MS;
                if (i % 5 == 0) {
                    Verdict verdict = admission.claim(at, Customer.SILVER, Standing.KNOWN, 0, true);
                    assertFalse(verdict.refuses());
                    admission.settle(verdict, Customer.SILVER, Standing.KNOWN, Outcome.RESUMED, 2 * MS);
                } else if (i % 5 < 4) {
                    Verdict verdict = admission.claim(at, Customer.SILVER, Standing.RETURNING, 0, true);
                    if (!verdict.refuses()) {
                        admission.settle(verdict, Customer.SILVER, Standing.RETURNING, Outcome.RESUMED, 2 * MS);
                        returned += tick >= 40 ? 1 : 0;
                    }
                } else if (admission.fresh(at, Customer.SILVER, 0) == Verdict.ADMIT && tick >= 40) {
                    admitted++;
                }
            }
            now += TICK;
            admission.passed(now, 0.25, 1, correction);
        }
        // 200/s of 2 ms are under way; of 600/s that come back, 0.55 CPUs have room for 275/s; 10 s.
        assertEquals(2_750, returned, 150);
        assertTrue(admitted < 100, "new ones got " + admitted);
    }

    @Test
    void a_crowd_is_let_in_as_fast_as_what_follows_it_can_be_served() {
        // Each session: 10 ms, and 3 connections of 2 ms, one a second after the other. 62.5 a second are one CPU.
        var followers = new PriorityQueue<Long>();
        double most = 0;
        for (int second = 0; second < 60; second++) {
            int perSecond = second < 40 ? 20 : 500;
            double work = 0;
            for (int i = 0; i < 1_000; i++) {
                long at = now + i * MS;
                if (i % 250 == 0) {
                    admission.passed(at, 0.25, 1, correction);
                }
                for (; !followers.isEmpty() && followers.peek() <= at; followers.remove()) {
                    Verdict verdict = admission.claim(at, Customer.SILVER, Standing.KNOWN, 0, true);
                    assertFalse(verdict.refuses(), "a session that was let in is broken in second " + second);
                    admission.settle(verdict, Customer.SILVER, Standing.KNOWN, Outcome.RESUMED, 2 * MS);
                    work += 2;
                }
                boolean due = i * perSecond / 1_000 != (i + 1) * perSecond / 1_000;
                if (due && admission.fresh(at, Customer.SILVER, 0) == Verdict.ADMIT) {
                    work += 10;
                    for (int follower = 1; follower <= 3; follower++) {
                        followers.add(at + follower * 1_000 * MS);
                    }
                }
            }
            now += 1_000 * MS;
            // The first second takes the half interval that a bucket holds in calm besides.
            most = second > 40 ? Math.max(most, work / 1_000) : most;
        }
        assertTrue(most < 1.25, "CPUs asked for: " + most);
        assertTrue(most > 0.9, "CPUs asked for: " + most);
    }

    @Test
    void threads_that_wait_for_long_begin_refusing_even_with_budget_left() {
        for (int i = 0; i < 16; i++) {
            tick(20, 0, false, 1);
        }
        assertTrue(admission.refusing());
        assertEquals(Verdict.REFUSE_BUDGET, admission.fresh(now, Customer.SILVER, 5));
    }

    @Test
    void gold_goes_before_silver_and_silver_before_bronze() {
        int[] got = new int[3];
        for (int tick = 0; tick < 120; tick++) {
            for (int i = 0; i < 45; i++) {
                Customer customer = Customer.values()[i % 3];
                boolean in = admission.fresh(now + i * TICK / 45, customer, 0) == Verdict.ADMIT;
                got[customer.ordinal()] += in && tick >= 60 ? 1 : 0;
            }
            now += TICK;
            admission.passed(now, 0.25, 1, correction);
        }
        // 60/s each, 100/s can be served: all gold, 40/s of silver, no bronze; 15 s.
        assertEquals(900, got[0], 20);
        assertEquals(600, got[1], 60);
        assertTrue(got[2] < 60, "bronze got " + got[2]);
    }

    @Test
    void when_the_overload_is_over_everyone_is_admitted_again() {
        offer(500, 10, 1);
        assertTrue(admission.refusing());
        offer(50, 6, 1);
        assertFalse(admission.refusing());
        refused = 0;
        offer(50, 10, 1);
        assertEquals(0, refused);
    }

    @Test
    void random_histories_never_promise_more_than_the_cpus_do() {
        for (int seed = 0; seed < 200; seed++) {
            var random = new Random(seed);
            var some = new Admission(1, 0.95, costs, 0);
            var loop = new Correction(4);
            double cpus = 1 + random.nextInt(4);
            some.passed(1, 0.25, cpus, loop);
            long at = 0;
            long work = 0;
            for (int i = 0; i < 5_000; i++) {
                at += random.nextInt(5_000_000);
                Customer customer = Customer.values()[random.nextInt(3)];
                if (random.nextBoolean()) {
                    work += some.fresh(at, customer, 0) == Verdict.ADMIT ? 10 * MS : 0;
                } else {
                    Standing standing = random.nextBoolean() ? Standing.KNOWN : Standing.RETURNING;
                    Verdict verdict = some.claim(at, customer, standing, 0, true);
                    if (!verdict.refuses()) {
                        some.settle(verdict, customer, standing, Outcome.values()[1 + random.nextInt(2)], MS);
                    }
                }
                if (i % 100 == 0) {
                    some.passed(at, 0.25, cpus, loop);
                }
            }
            // Each class of customers has its bucket, which may hold an interval at first.
            assertTrue(work <= at * cpus * 3 + 3 * cpus * 1e9, "seed " + seed);
        }
    }
}
