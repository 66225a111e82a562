package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.policy.SimulatedSite.Seen;
import dev.loadline.guard.policy.SimulatedSite.Setting;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** What holds of the control whatever comes. */
class ControlTest {
    private static final long MS = 1_000_000;

    @Property(tries = 15)
    void whatever_comes_delay_is_bounded_and_no_session_is_broken(@ForAll @DoubleRange(min = 0.3, max = 6) double load,
            @ForAll @DoubleRange(min = 0.5, max = 2.5) double speed, @ForAll boolean unsteady, @ForAll @IntRange(min = 1, max = 99) int seed) {
        Setting setting = Setting.of(true, load * 155 * speed, 25).speed(speed).seed(seed);
        Seen seen = (unsteady ? setting.unsteadyHost() : setting).run();
        assertEquals(0, seen.refusedUnderWay(), seen::toString);
        assertTrue(seen.p95Ms() <= 250, seen::toString);
        // A host that is unsteady is too slow for this load at times, and idle at others.
        double few = unsteady ? 0.1 : 0.03;
        assertTrue(seen.utilization() > 0.95 || seen.refusedToBegin() < few * setting.perSecond().applyAsDouble(0) * setting.seconds(), seen::toString);
    }

    @Property
    void nobody_is_refused_while_delay_is_below_its_target(@ForAll @LongRange(min = 1, max = 10_000) long costMs,
            @ForAll @DoubleRange(min = 0, max = 0.99) double delay, @ForAll @IntRange(min = 1, max = 64) int cpus, @ForAll Customer customer) {
        var admission = new Admission(new Costs(costMs * MS, MS), 0);
        admission.passed(0, 0.25, cpus, delay, delay, delay);
        for (int i = 0; i < 200; i++) {
            assertEquals(Verdict.ADMIT, admission.fresh(i, customer, false, delay).verdict());
            assertFalse(admission.claim(i, customer, Standing.RETURNING, delay, true).verdict().refuses());
        }
    }

    @Property
    void nobody_begins_at_the_limit_while_refusing(@ForAll @LongRange(min = 1, max = 10_000) long costMs,
            @ForAll @DoubleRange(min = Admission.LIMIT, max = 100) double delay, @ForAll @LongRange(min = 0, max = 1L << 50) long laterNanos) {
        var admission = new Admission(new Costs(costMs * MS, MS), 0);
        admission.passed(0, 0.25, 1, delay, delay, 0);
        assertTrue(admission.refusing());
        assertTrue(admission.fresh(laterNanos, Customer.GOLD, false, delay).verdict().refuses());
        assertTrue(admission.claim(laterNanos, Customer.GOLD, Standing.RETURNING, delay, true).verdict().refuses());
        assertFalse(admission.claim(laterNanos, Customer.GOLD, Standing.KNOWN, delay, true).verdict().refuses());
    }
}
