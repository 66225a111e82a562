package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Runs a hot method while all that a profiler stumbles over happens: threads, classes and compiled code come and go. */
public final class Churn extends Program {
    /** What one call does is decided by the class of its argument: a class that is new deoptimizes it. */
    public interface Step {
        long go(long x);
    }

    /** Loaded again and again, each time into a loader that is dropped. */
    public static final class Passing implements Step {
        @Override
        public long go(long x) {
            return x * 31 + 7;
        }
    }

    private volatile long sink;

    public static void main(String[] arguments) throws Exception {
        new Churn().serve();
    }

    /**
     * {@code hot} starts what is hot; {@code short} runs methods that do next to nothing, and the JVM's own routines, for two seconds
     * of CPU time in a thread of its own, and returns its id; {@code calls} the same of system calls; {@code MILLIS} churns for so long, and returns how many threads and classes there were. */
    @Override
    protected String handle(String command) throws Exception {
        if (command.equals("hot")) {
            Thread hot = new Thread(this::planted, "hot");
            hot.setDaemon(true);
            hot.start();
            return "";
        }
        if (command.equals("short") || command.equals("calls")) {
            Thread thread = new Thread(command.equals("short") ? this::shortly : this::calls, command);
            thread.start();
            thread.join();
            return Long.toString(thread.getId());
        }
        long end = System.nanoTime() + Long.parseLong(command) * 1_000_000;
        int threads = 0;
        int classes = 0;
        while (System.nanoTime() < end) {
            List<Thread> few = new ArrayList<>();
            Step step = passing();
            classes++;
            for (int i = 0; i < 8; i++, threads++) {
                Thread thread = new Thread(() -> sink += deep(ThreadLocalRandom.current().nextInt(200), step));
                thread.start();
                few.add(thread);
            }
            for (Thread thread : few) {
                thread.join();
            }
            if (classes % 50 == 0) {
                System.gc(); // unloads what was dropped
            }
        }
        return threads + " " + classes;
    }

    private static Step passing() throws Exception {
        Class<?> type = new Dropped().loadClass(Passing.class.getName());
        Constructor<?> constructor = type.getDeclaredConstructor();
        return (Step) constructor.newInstance();
    }

    private static long deep(int depth, Step step) {
        long x = depth;
        if (depth > 0) {
            return deep(depth - 1, step) + 1;
        }
        for (int i = 0; i < 20_000; i++) {
            x = step.go(x);
        }
        return x;
    }

    /** Until the thread has had two seconds of a CPU, which others may want too; ten seconds at most. */
    private static final class Busy {
        private static final long CPU_NS = 2_000_000_000L;
        private static final long LOOK_NS = 20_000_000L;
        private final long end = System.nanoTime() + 5 * CPU_NS;
        private long look = System.nanoTime() + LOOK_NS;

        boolean goesOn() {
            long now = System.nanoTime();
            if (now < look) {
                return true;
            }
            look = now + LOOK_NS;
            return now < end && ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < CPU_NS;
        }
    }

    private void shortly() {
        byte[] from = new byte[4_000];
        byte[] to = new byte[from.length];
        Busy busy = new Busy();
        while (busy.goesOn()) {
            long x = 0;
            for (int i = 0; i < 20_000; i++) {
                x = small(smaller(x));
                if (i % 20 == 0) {
                    System.arraycopy(from, 0, to, i % 7, from.length - 7);
                }
            }
            sink += x + to[9];
        }
    }

    /** Not to be inlined, as {@link #smaller}: their frames are made and left all the time. */
    private static long small(long x) {
        return x * 31 + 7;
    }

    private static long smaller(long x) {
        return small(x ^ x >>> 7) + small(x);
    }

    private void calls() {
        byte[] much = new byte[8_000]; // what the kernel makes up takes longer than to copy it
        Busy busy = new Busy();
        try (InputStream random = new FileInputStream("/dev/urandom")) {
            while (busy.goesOn()) {
                sink += random.read(much);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void planted() {
        for (;;) {
            sink += burn(sink);
        }
    }

    /** The hot method. */
    private static long burn(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 1_000_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static final class Dropped extends ClassLoader {
        Dropped() {
            super(Churn.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(Passing.class.getName())) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
