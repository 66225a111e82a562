import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that wait for a monitor, a lock and a socket, compute and allocate; then one collection. Ends within seconds. */
public final class Flight {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread[] all = {
            thread("holder", () -> repeat(() -> {
                synchronized (MONITOR) {
                    Thread.sleep(60);
                }
                Thread.sleep(20);
            })),
            thread("contender", () -> repeat(() -> {
                Thread.sleep(5);
                synchronized (MONITOR) {
                    sink++;
                }
            })),
            thread("locker", () -> repeat(() -> {
                LOCK.lock();
                try {
                    Thread.sleep(60);
                } finally {
                    LOCK.unlock();
                }
                Thread.sleep(20);
            })),
            thread("parker", () -> repeat(() -> {
                Thread.sleep(5);
                LOCK.lock();
                LOCK.unlock();
            })),
            thread("burner", () -> {
                // CPU time: on a busy machine it takes longer, and is seen as often. The sampler misses most of them when it has to wait.
                ThreadMXBean threads = ManagementFactory.getThreadMXBean();
                while (threads.getCurrentThreadCpuTime() < 1_500_000_000L) {
                    for (int i = 0; i < 1000; i++) {
                        sink += new byte[10_000].length + Long.bitCount(sink);
                    }
                }
            }),
            thread("writer", () -> {
                try (Socket s = server.accept()) {
                    Thread.sleep(150);
                    s.getOutputStream().write(new byte[100]);
                    Thread.sleep(50);
                }
            }),
            thread("reader", () -> {
                try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    sink += s.getInputStream().read(new byte[100]);
                }
            }),
        };
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
        Path file = Files.createTempFile("waits", ".bin");
        Files.write(file, new byte[1 << 24]);
        Files.delete(file);
        System.gc();
    }

    private interface Work {
        void run() throws Exception;
    }

    private static Thread thread(String name, Work work) {
        return new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
    }

    private static void repeat(Work work) throws Exception {
        for (int i = 0; i < 5; i++) {
            work.run();
        }
    }
}
