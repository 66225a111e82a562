package dev.loadline.omp.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a team makes room for other programs, and when it comes back. Times in ms. */
class CpuShareTest {
    private final CpuShare share = new CpuShare();
    private long now;

    private int after(int windows, int size, long ran, long waited, double idle) {
        for (int i = 0; i < windows; i++) {
            now += 25_000_000;
            share.decide(now, size, ran * 1_000_000, waited * 1_000_000, idle);
        }
        return share.limit();
    }

    @Test
    void a_team_that_gets_its_cpus_stays() {
        assertEquals(CpuShare.ALL, after(100, 2, 48, 2, 0));
        assertEquals(CpuShare.ALL, after(100, 2, 0, 0, 0));
        assertEquals(CpuShare.ALL, after(100, 1, 5, 20, 0), "one thread is the least");
    }

    @Test
    void a_team_that_gets_half_of_what_it_wants_halves() {
        assertEquals(CpuShare.ALL, after(1, 2, 25, 25, 0), "once is chance");
        assertEquals(1, after(1, 2, 25, 25, 0));
        assertEquals(1, after(100, 1, 24, 1, 0.1), "and stays so while no CPU idles");
    }

    @Test
    void four_threads_with_three_cpus_worth_of_time_become_three() {
        assertEquals(3, after(2, 4, 73, 27, 0));
    }

    @Test
    void it_grows_when_a_cpu_idles() {
        after(2, 2, 25, 25, 0);
        assertEquals(CpuShare.ALL, after(1, 1, 25, 0, 0.9));
    }

    @Test
    void making_room_is_for_nothing_when_others_want_all_there_is() {
        assertEquals(CpuShare.ALL, after(100, 2, 10, 40, 0), "a fifth each: one thread would get a tenth of the machine");
        after(2, 2, 25, 25, 0);
        assertEquals(CpuShare.ALL, after(6, 1, 12, 12, 0), "goes back");
        assertEquals(CpuShare.ALL, after(40, 2, 25, 25, 0), "and does not try again at once");
        assertEquals(1, after(42, 2, 25, 25, 0), "but after 2 s");
    }

    @Test
    void the_kernel_s_figures_are_read() {
        String stat = "cpu  9 9 9 9 9\ncpu0 1 2 3 40 5 6 7 0 0 0\ncpu1 1 2 3 50 5 6 7 0 0 0\ncpu2 1 2 3 60 5\nintr 1\n";
        assertEquals((45 + 65) * 10_000_000L, CpuTimes.idleNs(stat, new int[] {0, 2}));
        assertEquals(0, CpuTimes.idleNs("", new int[] {0}));
        long[] sums = new long[2];
        CpuTimes.add("", sums);
        CpuTimes.add("no such thread", sums);
        assertEquals(0, sums[0] + sums[1]);
        String self = CpuTimes.currentThread();
        if (!self.isEmpty()) {
            double work = 0;
            for (int i = 0; i < 1_000_000; i++) {
                work += Math.sqrt(i);
            }
            CpuTimes.add(self, sums);
            assertTrue(work > 0 && sums[0] > 0);
        }
    }
}
