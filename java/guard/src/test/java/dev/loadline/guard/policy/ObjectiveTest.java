package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ObjectiveTest {
    @ParameterizedTest
    @ValueSource(strings = {"p95=250ms", "p99.9=1.5ms", "p50=60000ms", "p95=100ms"})
    void is_written_as_it_is_read(String text) {
        assertEquals(text, Objective.parse(text).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"fast", "p5=250ms", "p95=250", "p95=0ms", "p95=61s", "p100=1s"})
    void what_is_none_is_refused(String text) {
        String said = assertThrows(IllegalArgumentException.class, () -> Objective.parse(text)).getMessage();
        assertTrue(said.contains("p95=250ms"), said);
    }

    /** A stricter objective leaves less delay, from now on. */
    @Test
    void it_changes_while_the_guard_runs() {
        var delay = new Delay(Objective.parse("p95=250ms"));
        double before = delay.targetNanos();
        delay.objective(Objective.parse("p95=100ms"));
        assertEquals(0.4 * before, delay.targetNanos(), 1e-3 * before);
    }
}
