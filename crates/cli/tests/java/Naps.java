import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Sleeps and computes by turns, on a platform thread and, where there are, on a virtual one, and says what CPU time the first took. */
public class Naps {
    private static final int ROUNDS = 20;
    private static final int NAP_MS = 5;
    /** Of work that takes as much CPU time whatever else runs: some milliseconds. */
    private static final int WORK = 500_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        long taken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            long before = THREADS.getCurrentThreadCpuTime();
            platform();
            taken += THREADS.getCurrentThreadCpuTime() - before;
        }
        System.out.println("cpu_ns " + taken);
        if (Runtime.version().feature() >= 21) {
            Runnable rounds = () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    virtual();
                }
            };
            ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, rounds)).join();
        }
    }

    static void platform() {
        nap();
        work();
    }

    static void virtual() {
        nap();
        work();
    }

    static void nap() {
        try {
            Thread.sleep(NAP_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void work() {
        for (int i = 0; i < WORK; i++) {
            sink++;
        }
    }
}
