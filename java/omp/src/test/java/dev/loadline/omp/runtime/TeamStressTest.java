package dev.loadline.omp.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Races for everything that members do among themselves, with more threads than CPUs and with fewer. */
@Timeout(60)
class TeamStressTest {
    private int plain;

    @BeforeEach
    void everyThreadWanted() {
        Controls.dynamic(false);
    }

    @AfterEach
    void restore() {
        Controls.dynamic(true);
        Controls.maxActiveLevels(1);
    }

    @Test
    void what_one_thread_wrote_before_a_barrier_all_read_after_it() {
        for (int n : new int[] {2, 3, 5}) {
            int[] cells = new int[n * 64];
            AtomicInteger wrong = new AtomicInteger();
            Run.parallel("test", n, true, m -> {
                for (int round = 1; round <= 3000 / n; round++) {
                    cells[m.number() * 64] = round;
                    m.barrier();
                    for (int i = 0; i < m.size(); i++) {
                        if (cells[i * 64] != round) {
                            wrong.incrementAndGet();
                        }
                    }
                    m.barrier();
                }
            });
            assertEquals(0, wrong.get(), n + " threads");
        }
    }

    @Test
    void a_region_sees_what_came_before_and_what_came_after_sees_it() {
        int[] parts = new int[4 * 64];
        for (int round = 1; round <= 4000; round++) {
            plain = round;
            int n = 1 + round % 4;
            Run.parallel("test", n, true, m -> parts[m.number() * 64] = plain * 10 + m.size());
            for (int i = 0; i < n; i++) {
                assertEquals(round * 10 + n, parts[i * 64]);
            }
        }
    }

    @Test
    void a_reduction_loses_no_part() {
        for (int n : new int[] {2, 4, 7}) {
            long[] sum = new long[1];
            Run.parallel("test", n, true, m -> {
                for (int round = 0; round < 1500 / n; round++) {
                    m.put(0, (long) m.number() + round);
                    m.put(1, 0.5);
                    if (m.gather()) {
                        for (int i = 0; i < m.size(); i++) {
                            sum[0] += m.team().getLong(i, 0) + (long) (2 * m.team().getDouble(i, 1));
                        }
                    }
                    m.release();
                }
            });
            long rounds = 1500 / n;
            assertEquals(rounds * n * (n - 1) / 2 + n * rounds * (rounds - 1) / 2 + n * rounds, sum[0]);
        }
    }

    @Test
    void each_iteration_is_handed_out_once_in_every_schedule_without_barriers_between() {
        for (int n : new int[] {2, 3}) {
            int loops = 300; // more than the ring of open constructs holds
            AtomicIntegerArray seen = new AtomicIntegerArray(loops * 37);
            AtomicInteger singles = new AtomicInteger();
            Run.parallel("test", n, true, m -> {
                for (int loop = 0; loop < loops; loop++) {
                    m.loop(Schedule.Kind.values()[loop % 3], 37, loop % 5);
                    while (m.chunk()) {
                        for (long i = m.begin(); i < m.end(); i++) {
                            seen.incrementAndGet(loop * 37 + (int) i);
                        }
                    }
                    if (m.single()) {
                        singles.incrementAndGet();
                    }
                }
            });
            for (int i = 0; i < seen.length(); i++) {
                assertEquals(1, seen.get(i), "loop " + i / 37 + ", iteration " + i % 37);
            }
            assertEquals(loops, singles.get());
        }
    }

    @Test
    void tasks_are_all_run_before_the_region_ends_whoever_makes_them() {
        AtomicLong sum = new AtomicLong();
        for (int round = 0; round < 30; round++) {
            Run.parallel("test", 3, true, m -> {
                if (m.number() == m.size() - 1) {
                    for (int i = 0; i < 400; i++) { // more than a deque holds
                        m.task(true, t -> {
                            t.task(true, u -> sum.addAndGet(1));
                            t.taskwait();
                            sum.addAndGet(1);
                        });
                    }
                }
            });
        }
        assertEquals(30 * 800, sum.get());
    }

    @Test
    void thieves_and_the_owner_of_a_deque_take_each_task_once() throws Exception {
        var deque = new TaskDeque();
        Member member = Member.alone();
        int count = 20_000;
        AtomicIntegerArray taken = new AtomicIntegerArray(count);
        AtomicInteger total = new AtomicInteger();
        Thread thief = new Thread(() -> {
            while (total.get() < count) {
                take(deque.steal(member), taken, total);
                Thread.yield();
            }
        });
        thief.start();
        for (int i = 0; i < count; i++) {
            int number = i;
            Task task = new Task(m -> taken.incrementAndGet(number), null, null);
            while (!deque.push(task)) {
                take(deque.pop(), taken, total);
            }
            if (i % 3 == 0) {
                take(deque.pop(), taken, total);
            }
        }
        while (total.get() < count) {
            take(deque.pop(), taken, total);
        }
        thief.join();
        for (int i = 0; i < count; i++) {
            assertEquals(1, taken.get(i));
        }
    }

    private static void take(Task task, AtomicIntegerArray taken, AtomicInteger total) {
        if (task != null) {
            try {
                task.code.run(null);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            total.incrementAndGet();
        }
    }

    @Test
    void an_exception_frees_those_who_wait_and_the_team_is_whole_again() {
        for (int round = 0; round < 200; round++) {
            int thrower = round % 3;
            var thrown = assertThrows(IllegalStateException.class, () -> Run.parallel("test", 3, true, m -> {
                m.barrier();
                if (m.number() == thrower) {
                    throw new IllegalStateException("from " + thrower);
                }
                m.barrier();
                m.loop(Schedule.Kind.DYNAMIC, 5, 1);
                throw new AssertionError("nobody comes here");
            }));
            assertEquals("from " + thrower, thrown.getMessage());
            assertEquals(0, thrown.getSuppressed().length);
            int[] count = new int[3 * 64];
            Run.parallel("test", 3, true, m -> {
                m.barrier();
                count[m.number() * 64]++;
            });
            assertEquals(3, count[0] + count[64] + count[128]);
        }
    }

    @Test
    void the_lowest_threads_exception_comes_and_has_the_others_suppressed() {
        CountDownLatch all = new CountDownLatch(3);
        var thrown = assertThrows(IllegalStateException.class, () -> Run.parallel("test", 3, true, m -> {
            all.countDown();
            assertTrue(all.await(20, TimeUnit.SECONDS));
            throw new IllegalStateException("from " + m.number());
        }));
        assertEquals("from 0", thrown.getMessage());
        assertEquals(2, thrown.getSuppressed().length);
        assertEquals("from 2", thrown.getSuppressed()[1].getMessage());
    }

    @Test
    void a_task_s_exception_comes_out_of_the_region() {
        assertThrows(ArithmeticException.class, () -> Run.parallel("test", 2, true, m -> {
            if (m.isMaster()) {
                m.task(true, t -> {
                    throw new ArithmeticException();
                });
            }
            m.barrier();
            m.barrier();
        }));
    }

    @Test
    void a_task_is_run_by_a_member_of_its_region() {
        for (int round = 0; round < 300; round++) {
            Run.parallel("test", 4, true, Member::barrier); // two more threads, which now wait for a region
            AtomicInteger outside = new AtomicInteger();
            int last = round % 20;
            Region region = m -> {
                if (m.isMaster()) {
                    for (int i = 0; i < 20; i++) {
                        int task = i;
                        m.task(true, t -> {
                            outside.addAndGet(t.number() < t.size() ? 0 : 1);
                            if (task == last) {
                                throw new ArithmeticException();
                            }
                        });
                    }
                }
                m.barrier();
            };
            assertThrows(ArithmeticException.class, () -> Run.parallel("test", 2, true, region));
            assertEquals(0, outside.get());
        }
    }

    @Test
    void nested_regions_have_teams_of_their_own() {
        Controls.maxActiveLevels(2);
        AtomicInteger inner = new AtomicInteger();
        for (int round = 0; round < 50; round++) {
            Run.parallel("test", 2, true, m -> {
                Run.parallel("test", 2, true, k -> {
                    k.barrier();
                    inner.addAndGet(k.size() * 10 + k.number() + k.level());
                    assertSame(k, Run.member());
                });
                assertSame(m, Run.member());
                m.barrier();
            });
        }
        assertEquals(50 * 2 * (40 + 1 + 4), inner.get());
    }

    @Test
    void an_interrupted_master_still_waits_and_stays_interrupted() {
        Thread.currentThread().interrupt();
        int[] done = new int[1];
        Run.parallel("test", 2, true, m -> {
            if (m.number() == 1) {
                Thread.sleep(30);
                done[0] = 1;
            }
        });
        assertEquals(1, done[0]);
        assertTrue(Thread.interrupted());
    }

    @Test
    void sleeping_workers_are_woken() throws Exception {
        AtomicInteger count = new AtomicInteger();
        for (int round = 0; round < 20; round++) {
            Run.parallel("test", 4, true, m -> count.incrementAndGet());
            Thread.sleep(5); // long enough to park
        }
        assertEquals(80, count.get());
    }

    @Test
    void many_threads_of_the_program_can_have_regions_at_once() throws Exception {
        AtomicInteger count = new AtomicInteger();
        Thread[] masters = new Thread[5];
        for (int i = 0; i < masters.length; i++) {
            masters[i] = new Thread(() -> {
                for (int round = 0; round < 100; round++) {
                    Run.parallel("test", 2, true, m -> {
                        m.barrier();
                        count.incrementAndGet();
                    });
                }
            });
            masters[i].start();
        }
        for (Thread master : masters) {
            master.join();
        }
        assertEquals(1000, count.get());
    }
}
