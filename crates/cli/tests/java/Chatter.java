import java.util.concurrent.locks.LockSupport;

/** Parks for a moment as often as it can on a few threads: a JVM that fills a recording quickly. */
public class Chatter {
    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        for (int i = 0; i < 4; i++) {
            new Thread(() -> {
                while (System.nanoTime() < end) LockSupport.parkNanos(1);
            }, "chatter-" + i).start();
        }
        System.out.println("ready");
    }
}
