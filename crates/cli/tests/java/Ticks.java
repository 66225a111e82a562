/** Two threads hand a token to and fro through a monitor until the time is up: a JVM that always does a little. */
public class Ticks {
    static boolean mine;

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        Object lock = new Object();
        for (boolean me : new boolean[] {true, false}) {
            new Thread(() -> {
                while (System.nanoTime() < end) {
                    synchronized (lock) {
                        if (mine == me) {
                            mine = !me;
                            lock.notifyAll();
                        }
                        try {
                            lock.wait(5);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
            }, "tick-" + me).start();
        }
        System.out.println("ready");
    }
}
