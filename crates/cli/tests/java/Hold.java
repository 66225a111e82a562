/**
 * One thread holds a monitor for a known time while another waits for it, again and again. Prints a
 * line per wait as the waiter saw it: begin and end by System.nanoTime, which is the trace's clock.
 */
public class Hold {
    static final class Treasure {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        long holdMillis = Long.parseLong(args[1]);
        Treasure lock = new Treasure();
        System.out.println("ready");
        for (int i = 0; i < rounds; i++) {
            var held = new java.util.concurrent.CountDownLatch(1);
            Thread owner = new Thread(() -> {
                synchronized (lock) {
                    held.countDown();
                    sleep(holdMillis);
                }
            }, "owner-" + i);
            owner.start();
            held.await();
            Thread waiter = new Thread(() -> {
                long begin = System.nanoTime();
                synchronized (lock) {
                    System.out.println("waited " + begin + " " + System.nanoTime());
                }
            }, "waiter-" + i);
            waiter.start();
            owner.join();
            waiter.join();
        }
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
