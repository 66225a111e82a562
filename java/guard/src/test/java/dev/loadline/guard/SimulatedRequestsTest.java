package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.SimulatedRequests.Seen;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The control where sessions begin with requests, and are seen when a worker has them: docs/internals/guard.md. */
class SimulatedRequestsTest {
    private static final double SECONDS = 40;

    @ParameterizedTest
    @ValueSource(ints = {8, 200})
    void what_can_be_served_within_the_objective_is_not_refused(int workers) {
        Seen seen = SimulatedRequests.run(workers, 0.85, SECONDS, true, true);
        assertEquals(0, seen.refusedToBegin() + seen.refusedUnderWay(), seen::toString);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 200})
    void goodput_is_held_under_any_overload_within_the_objective(int workers) {
        Seen unguarded = SimulatedRequests.run(workers, 2, SECONDS, false, false);
        assertTrue(unguarded.good() < 50, "without a guard it falls: " + unguarded);
        for (double load : new double[] {1.25, 2, 5}) {
            Seen seen = SimulatedRequests.run(workers, load, SECONDS, true, true);
            String what = workers + " workers, " + load + " times what can be served: " + seen;
            assertTrue(seen.good() > 450, what); // of the 500 that the CPU serves, refusals included
            assertTrue(seen.p95Ms() <= 200, what);
            assertEquals(0, seen.refusedUnderWay(), what);
        }
    }

    /** Why the guard asks servers for it: eight requests that share a CPU hardly wait for it. */
    @Test
    void a_small_pool_whose_queue_is_not_seen_hides_overload() {
        Seen seen = SimulatedRequests.run(8, 2, SECONDS, true, false);
        assertTrue(seen.p95Ms() > 1_000, seen::toString);
    }
}
