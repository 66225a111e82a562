package dev.loadline.omp.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The pure decisions: sizes, settings, trips, waiting. */
class DecisionsTest {
    private final List<String> complaints = new ArrayList<>();

    private Settings settings(Map<String, String> values) {
        return Settings.parse(values::get, complaints::add);
    }

    @Test
    void a_team_has_the_cpus_that_are_left_unless_the_program_insists() {
        assertEquals(8, Controls.size(0, 8, 1, true, 1024));
        assertEquals(3, Controls.size(3, 8, 1, true, 1024));
        assertEquals(8, Controls.size(20, 8, 1, true, 1024));
        assertEquals(20, Controls.size(20, 8, 1, false, 1024));
        assertEquals(4, Controls.size(0, 8, 2, true, 1024));
        assertEquals(1, Controls.size(4, 2, 4, true, 1024));
        assertEquals(5, Controls.size(20, 8, 1, false, 5));
    }

    @Test
    void the_environment_is_read_as_openmp_says() {
        Settings s = settings(Map.of("OMP_NUM_THREADS", "4, 2", "OMP_SCHEDULE", "Guided,7", "OMP_DYNAMIC", "FALSE", "OMP_PROC_BIND", "close",
                "OMP_WAIT_POLICY", "passive", "OMP_THREAD_LIMIT", "9", "OMP_MAX_ACTIVE_LEVELS", "3"));
        assertEquals(List.of(4, 2), s.numThreads());
        assertEquals(new Schedule(Schedule.Kind.GUIDED, 7), s.schedule());
        assertFalse(s.dynamic());
        assertTrue(s.bind());
        assertEquals(Settings.WaitPolicy.PASSIVE, s.waitPolicy());
        assertEquals(9, s.threadLimit());
        assertEquals(3, s.maxActiveLevels());
        assertEquals(List.of(), complaints);
        assertEquals(Integer.MAX_VALUE, settings(Map.of("OMP_NESTED", "true")).maxActiveLevels());
    }

    @Test
    void a_setting_that_makes_no_sense_is_complained_of_and_not_used() {
        Settings s = settings(Map.of("OMP_NUM_THREADS", "4,x", "OMP_SCHEDULE", "static,0", "OMP_DYNAMIC", "maybe", "OMP_PROC_BIND", "tight",
                "OMP_WAIT_POLICY", "lazy", "OMP_THREAD_LIMIT", "-1"));
        assertEquals(settings(Map.of()), s);
        assertEquals(6, complaints.size());
        assertTrue(complaints.contains("loadline-omp: OMP_DYNAMIC is 'maybe'; it must be true or false; using true"), complaints::toString);
    }

    @Test
    void trips_are_counted_for_every_kind_of_loop() {
        assertEquals(4, Loops.up(0, 10, 3));
        assertEquals(0, Loops.up(5, 5, 1));
        assertEquals(4, Loops.upTo(1, 10, 3));
        assertEquals(4, Loops.down(10, 0, -3));
        assertEquals(4, Loops.downTo(10, 1, -3));
        assertEquals(0, Loops.downTo(0, 1, -1));
        assertEquals(1L << 32, Loops.upTo(Integer.MIN_VALUE, Integer.MAX_VALUE, 1));
        assertThrows(IllegalArgumentException.class, () -> Loops.up(0, 9, 0));
        assertThrows(IllegalArgumentException.class, () -> Loops.down(9, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> Loops.chunk(0));
        assertThrows(ArithmeticException.class, () -> Loops.up(Long.MIN_VALUE, Long.MAX_VALUE, 1));
    }

    @Test
    void a_list_without_quick_access_is_copied() {
        var array = new ArrayList<>(List.of(1, 2));
        assertTrue(Loops.list(array) == array);
        assertEquals(List.of(1, 2), Loops.list(new LinkedList<>(List.of(1, 2))));
        Iterable<Integer> iterable = List.of(3)::iterator;
        assertEquals(List.of(3), Loops.list(iterable));
    }

    @Test
    void nobody_spins_when_the_team_does_not_fit_the_cpus() {
        for (Settings.WaitPolicy policy : Settings.WaitPolicy.values()) {
            assertEquals(0, Waiting.spins(false, policy));
        }
        assertEquals(0, Waiting.spins(true, Settings.WaitPolicy.PASSIVE));
        assertTrue(Waiting.spins(true, Settings.WaitPolicy.ACTIVE) > Waiting.spins(true, Settings.WaitPolicy.ADAPTIVE));
    }

    @Test
    void the_kernels_cpu_lists_are_read() {
        assertArrayEquals(new int[] {0, 1, 2, 8}, Binding.parse("0-2,8"));
        assertArrayEquals(new int[0], Binding.parse(" "));
    }

    @Test
    void tickets_compare_rightly_when_they_wrap() {
        assertTrue(Words.reached(Long.MIN_VALUE, Long.MAX_VALUE));
        assertFalse(Words.reached(Long.MAX_VALUE, Long.MIN_VALUE));
    }
}
