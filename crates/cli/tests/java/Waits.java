import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that know what they wait for: monitors, locks, parks, sleeps, notifications, bytes of a
 * socket; and one that allocates, so that collections stop them all.
 *
 * <p>{@code Waits SECONDS FILE}: at the end FILE has a line for each wait as its thread saw it:
 * thread, cause, begin and end by System.nanoTime, which is the trace's clock.
 */
public class Waits {
    private static final int MOST = 1 << 16;
    private static final List<Log> LOGS = new ArrayList<>();
    private static volatile boolean over;
    static volatile Object sink;

    /** What one thread waited for; written by it alone, read when it has ended. */
    private static final class Log {
        final String thread;
        final String[] causes = new String[MOST];
        final long[] times = new long[2 * MOST];
        int count;

        Log(String thread) {
            this.thread = thread;
        }

        void add(String cause, long begin) {
            long end = System.nanoTime();
            if (count < MOST) {
                causes[count] = cause;
                times[2 * count] = begin;
                times[2 * count + 1] = end;
                count++;
            }
        }
    }

    private interface Body {
        void run(Log log) throws Exception;
    }

    private static Thread thread(String name, Body once) {
        Log log = new Log(name);
        Thread thread = new Thread(() -> {
            try {
                while (!over) {
                    once.run(log);
                }
            } catch (Exception e) {
                throw new IllegalStateException(name, e);
            }
        }, name);
        thread.setDaemon(true);
        LOGS.add(log);
        return thread;
    }

    private static void sleep(Log log, long millis) throws InterruptedException {
        long begin = System.nanoTime();
        Thread.sleep(millis);
        log.add("idle", begin);
    }

    public static void main(String[] arguments) throws Exception {
        List<Thread> threads = new ArrayList<>();
        Object monitor = new Object();
        ReentrantLock lock = new ReentrantLock();
        for (int i = 0; i < 3; i++) {
            threads.add(thread("monitor-" + i, log -> {
                long begin = System.nanoTime();
                synchronized (monitor) {
                    log.add("lock", begin);
                    sleep(log, 2);
                }
                sleep(log, 1);
            }));
            threads.add(thread("lock-" + i, log -> {
                long begin = System.nanoTime();
                lock.lock();
                try {
                    log.add("lock", begin);
                    sleep(log, 2);
                } finally {
                    lock.unlock();
                }
                sleep(log, 1);
            }));
        }
        Object condition = new Object();
        threads.add(thread("wait", log -> {
            long begin = System.nanoTime();
            synchronized (condition) {
                condition.wait(1000);
            }
            log.add("idle", begin);
        }));
        Thread parks = thread("park", log -> {
            long begin = System.nanoTime();
            LockSupport.park(condition);
            log.add("idle", begin);
        });
        threads.add(parks);
        threads.add(thread("wakes", log -> {
            sleep(log, 3);
            LockSupport.unpark(parks);
            synchronized (condition) {
                condition.notifyAll();
            }
        }));
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        OutputStream out = new Socket(server.getInetAddress(), server.getLocalPort()).getOutputStream();
        InputStream in = server.accept().getInputStream();
        threads.add(thread("read", log -> {
            long begin = System.nanoTime();
            in.read();
            log.add("socket", begin);
        }));
        threads.add(thread("write", log -> {
            out.write(1);
            sleep(log, 4);
        }));
        byte[][] kept = new byte[256][];
        threads.add(thread("allocates", log -> {
            for (int i = 0; i < 256; i++) {
                kept[(int) (System.nanoTime() & 255)] = new byte[16 << 10];
                sink = new byte[16 << 10];
            }
            sleep(log, 2);
        }));
        threads.forEach(Thread::start);
        Thread.sleep(1000 * Long.parseLong(arguments[0]));
        over = true;
        out.write(1);
        LockSupport.unpark(parks);
        synchronized (condition) {
            condition.notifyAll();
        }
        for (Thread thread : threads) {
            thread.join(2000);
        }
        try (PrintWriter to = new PrintWriter(Files.newBufferedWriter(Path.of(arguments[1])))) {
            for (Log log : LOGS) {
                for (int i = 0; i < log.count; i++) {
                    to.println(log.thread + " " + log.causes[i] + " " + log.times[2 * i] + " " + log.times[2 * i + 1]);
                }
            }
        }
    }
}
