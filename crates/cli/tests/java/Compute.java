import java.lang.management.ManagementFactory;

/** Computes on N threads for a time, then prints the CPU time that the whole process has used, and up to when, in ns. */
public class Compute {
    static volatile double sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long nanos = Long.parseLong(args[1]) * 1_000_000L;
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(() -> {
                long end = System.nanoTime() + nanos;
                double x = 1;
                while (System.nanoTime() < end) {
                    for (int k = 0; k < 10_000; k++) x = Math.sqrt(x + k);
                }
                sink = x;
            }, "compute-" + i);
            all[i].start();
        }
        for (Thread t : all) t.join();
        var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        System.out.println("cpu_ns " + os.getProcessCpuTime() + " " + System.nanoTime());
    }
}
