import java.util.concurrent.locks.LockSupport;

/** Pairs of threads that wake each other in turns as fast as they can: many events a second. */
public class Handoffs {
    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        for (int pair = 0; pair < Integer.parseInt(args[1]); pair++) {
            Thread[] two = new Thread[2];
            for (int me = 0; me < 2; me++) {
                int other = 1 - me;
                two[me] = new Thread(() -> {
                    while (System.nanoTime() < end) {
                        LockSupport.unpark(two[other]);
                        LockSupport.parkNanos(two, 5_000_000);
                    }
                }, "pair-" + pair + "-" + me);
            }
            two[0].start();
            two[1].start();
        }
        System.out.println("ready");
    }
}
