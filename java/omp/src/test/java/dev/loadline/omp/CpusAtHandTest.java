package dev.loadline.omp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.omp.runtime.Run;
import dev.loadline.omp.runtime.Schedule;
import dev.loadline.share.CpuSource;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Teams follow the CPUs that they are given, here by a source that the tests provide. */
// A thread for each: how short a thread's last regions were decides whether its next one asks.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CpusAtHandTest {
    /** Found by the runtime through META-INF/services. */
    public static final class Given implements CpuSource {
        static volatile double cpus;

        @Override
        public OptionalDouble cpus() {
            return OptionalDouble.of(cpus > 0 ? cpus : Runtime.getRuntime().availableProcessors());
        }

        @Override
        public String name() {
            return "the test";
        }
    }

    @AfterEach
    void restore() {
        Given.cpus = 0;
        Omp.setDynamic(true);
    }

    private static int size() throws InterruptedException {
        Thread.sleep(2); // an answer is used for a millisecond
        return Run.parallel("test", 0, true, m -> { }).size();
    }

    @Test
    void the_next_region_has_as_many_threads_as_there_are_cpus_now() throws Exception {
        for (int cpus : new int[] {3, 1, 4, 2}) {
            Given.cpus = cpus;
            assertEquals(cpus, size());
            assertEquals(cpus, Omp.getNumProcs());
            assertEquals(cpus, Omp.getMaxThreads());
        }
    }

    /** After regions that were short enough to be begun without a look at the clock, too. */
    @Test
    void a_question_is_answered_for_now() throws Exception {
        Given.cpus = 4;
        for (int i = 0; i < 100_000; i++) {
            Run.parallel("test", 1, true, m -> { });
        }
        for (int cpus : new int[] {3, 1, 4, 2, 5, 1, 6, 2, 4, 1}) {
            Given.cpus = cpus;
            Thread.sleep(2);
            assertEquals(cpus, Omp.getMaxThreads());
        }
    }

    /** And is no region: the next one asks all the same. */
    @Test
    void who_asks_makes_the_next_region_no_older() throws Exception {
        for (int round = 0; round < 200; round++) {
            Given.cpus = 1 + round % 3;
            assertEquals(Given.cpus, size());
            for (int i = 0; i < 20; i++) {
                assertEquals(Given.cpus, Omp.getMaxThreads());
            }
        }
    }

    @Test
    void parts_of_cpus_are_rounded_and_one_thread_is_the_least() throws Exception {
        for (double[] given : new double[][] {{0.3, 1}, {1.4, 1}, {1.6, 2}, {2.5, 3}}) {
            Given.cpus = given[0];
            assertEquals((int) given[1], size(), given[0] + " CPUs");
        }
    }

    @Test
    void a_wish_is_a_ceiling_when_sizes_are_dynamic_and_an_order_when_not() throws Exception {
        Given.cpus = 2;
        Omp.setNumThreads(3);
        assertEquals(2, size());
        Omp.setDynamic(false);
        assertEquals(3, size());
        assertThrows(IllegalArgumentException.class, () -> Omp.setNumThreads(0));
        Omp.setDynamic(true);
        Given.cpus = 8;
        assertEquals(3, size());
        Omp.setNumThreads(1000);
        assertEquals(8, size());
    }

    @Test
    void within_a_dynamic_loop_threads_that_lost_their_cpu_leave_the_rest_to_others() throws Exception {
        Given.cpus = 3;
        Thread.sleep(2);
        AtomicIntegerArray late = new AtomicIntegerArray(3);
        AtomicIntegerArray seen = new AtomicIntegerArray(3000);
        int[] size = new int[1];
        Run.parallel("test", 0, true, m -> {
            size[0] = m.size();
            m.barrier();
            m.loop(Schedule.Kind.DYNAMIC, 3000, 1);
            while (m.chunk()) {
                seen.incrementAndGet((int) m.begin());
                if (m.begin() == 500) {
                    Given.cpus = 1;
                }
                if (m.begin() > 2000) {
                    late.incrementAndGet(m.number());
                }
                Thread.sleep(0, 20_000);
            }
        });
        assertEquals(3, size[0]);
        for (int i = 0; i < 3000; i++) {
            assertEquals(1, seen.get(i));
        }
        assertEquals(0, late.get(1) + late.get(2), "chunks that surplus threads took long after");
        assertTrue(late.get(0) > 900);
    }

    /** A loop during which CPUs come; how many members ran iterations of it, and each reduced its part. */
    private static void grows(int before, int during, Schedule.Kind kind) throws Exception {
        Given.cpus = before;
        Thread.sleep(2);
        AtomicIntegerArray seen = new AtomicIntegerArray(2000);
        AtomicIntegerArray by = new AtomicIntegerArray(during);
        var team = Run.parallel("test", 0, true, m -> {
            long mine = 0;
            m.joinable();
            m.loop(kind, 2000, 1);
            while (m.chunk()) {
                for (long i = m.begin(); i < m.end(); i++) {
                    seen.incrementAndGet((int) i);
                    by.incrementAndGet(m.number());
                    mine += i;
                    Given.cpus = during;
                    Thread.sleep(0, 20_000);
                }
            }
            m.put(0, mine);
        });
        long sum = 0;
        for (int i = 0; i < team.size(); i++) {
            sum += team.getLong(i, 0);
        }
        assertEquals(2000L * 1999 / 2, sum, "what all reduced");
        for (int i = 0; i < 2000; i++) {
            assertEquals(1, seen.get(i));
        }
        assertEquals(during, team.size());
        assertTrue(by.get(during - 1) > 0, by::toString);
        assertEquals(during, size(), "and the next region begins with all");
    }

    @Test
    void a_loop_that_is_its_region_gets_more_threads_when_cpus_come() throws Exception {
        for (int round = 0; round < 3; round++) {
            grows(2, 3, Schedule.Kind.DYNAMIC);
            grows(1, 3, Schedule.Kind.DYNAMIC);
            grows(1, 7, Schedule.Kind.GUIDED); // more than one level of the tree of arrivals
        }
    }

    @Test
    void a_region_that_is_to_have_one_thread_keeps_it() throws Exception {
        Given.cpus = 4;
        Thread.sleep(2);
        for (boolean active : new boolean[] {true, false}) {
            assertEquals(1, Run.parallel("test", active ? 1 : 0, active, m -> {
                m.joinable();
                m.loop(Schedule.Kind.DYNAMIC, 100, 1);
                while (m.chunk()) {
                    Thread.sleep(0, 50_000);
                }
            }).size());
        }
    }

    @Test
    void outside_of_regions_a_thread_is_a_team_of_one() {
        assertEquals(0, Omp.getThreadNum());
        assertEquals(1, Omp.getNumThreads());
        assertEquals(0, Omp.getLevel());
        assertTrue(!Omp.inParallel());
        assertTrue(Omp.getWtime() > 0 && Omp.getWtick() > 0);
    }

    @Test
    void a_lock_is_nestable_and_belongs_to_its_thread() throws Exception {
        OmpLock lock = new OmpLock();
        lock.set();
        assertEquals(2, lock.test());
        int[] other = {-1};
        Thread thread = new Thread(() -> other[0] = lock.test());
        thread.start();
        thread.join();
        assertEquals(0, other[0]);
        lock.unset();
        lock.unset();
        assertThrows(IllegalMonitorStateException.class, lock::unset);
    }

    @Test
    void the_schedule_of_runtime_loops_can_be_set() {
        Omp.setSchedule(Schedule.Kind.GUIDED, 3);
        assertEquals(new Schedule(Schedule.Kind.GUIDED, 3), Omp.getSchedule());
        Omp.setSchedule(Schedule.Kind.STATIC, 0);
        assertThrows(IllegalArgumentException.class, () -> Omp.setSchedule(Schedule.Kind.STATIC, -1));
    }
}
