package dev.loadline.programs;

import dev.loadline.agent.testing.Program;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Calls methods in a way that is known. Not in the package of the other programs, because whatever lies below the agent's own
 * has no probes.
 */
public final class Orders extends Program {
    private static final Object WORK = new Object();

    public static void main(String[] arguments) throws Exception {
        new Orders().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        String[] words = command.split(" ");
        switch (words[0]) {
            case "order":
                new Shop().order(2);
                return "";
            case "burn":
                return Long.toString(new Shop().burn(Long.parseLong(words[1])));
            case "recurse":
                return Long.toString(new Shop().fibonacci(Integer.parseInt(words[1])));
            case "fail":
                fail();
                return "";
            case "overflow":
                return overflow();
            case "threads":
                return threads(words);
            case "virtual":
                return virtual(Integer.parseInt(words[1]));
            case "begin":
                new Thread(new Shop()::wait4, "waiter").start();
                return "";
            case "end":
                synchronized (WORK) {
                    WORK.notifyAll();
                }
                return "";
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private static void fail() {
        Shop shop = new Shop();
        shop.caught();
        for (int i = 0; i < 3; i++) {
            try {
                new Broken(i);
            } catch (IllegalStateException expected) {
                shop.add(1);
            }
        }
    }

    private static String overflow() {
        try {
            return Integer.toString(new Shop().deep(1));
        } catch (StackOverflowError expected) {
            new Shop().order(1);
            return "overflowed";
        }
    }

    private static String threads(String[] names) throws InterruptedException {
        for (int i = 1; i < names.length; i++) {
            Thread thread = new Thread(() -> new Shop().order(1), names[i]);
            thread.start();
            thread.join();
        }
        return "";
    }

    /** So many virtual threads, each in methods that leave their carrier in the midst. */
    private static String virtual(int count) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add((Thread) start.invoke(null, (Runnable) new Shop()::outer));
        }
        for (Thread one : all) {
            one.join();
        }
        return "";
    }

    /** What is bought in. */
    public static class Shop {
        private int items;

        /** Adds as many items, in two ways. */
        public void order(int count) {
            for (int i = 0; i < count; i++) {
                add(i);
                add(i, "x");
            }
            new Invoice(items < 0 ? new int[1] : new int[2]);
        }

        int add(int item) {
            return items += item;
        }

        long add(int item, String note) {
            return add(item) + note.length();
        }

        /** Burns CPU for so many ns, in a callee. */
        public long burn(long nanos) {
            return spin(nanos);
        }

        private static long spin(long nanos) {
            long end = System.nanoTime() + nanos;
            long x = 1;
            while (System.nanoTime() < end) {
                x = x * 31 + 7;
            }
            return x;
        }

        long fibonacci(int n) {
            return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
        }

        void caught() {
            try {
                thrown();
            } catch (IllegalStateException e) {
                add(e.getMessage().length());
            }
        }

        private void thrown() {
            try {
                add(1);
                throw new IllegalStateException("thrown");
            } finally {
                add(2);
            }
        }

        int deep(int depth) {
            return deep(depth + 1) + 1;
        }

        void outer() {
            inner(5);
            inner(5);
        }

        private void inner(long millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private void wait4() {
            synchronized (WORK) {
                try {
                    WORK.wait(10_000);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            add(4);
        }
    }

    /** Its constructor calls others. */
    public static final class Invoice extends Paper {
        private final int[] lines;

        Invoice(int[] lines) {
            this(lines, new StringBuilder(lines.length > 1 ? "long" : "short"));
        }

        Invoice(int[] lines, CharSequence title) {
            super(title.length() > 4 ? new Object() : "");
            this.lines = lines;
        }

        int lines() {
            return lines.length;
        }
    }

    /** Of which there are several kinds. */
    public static class Paper {
        Paper(Object of) {
            of.hashCode();
        }
    }

    /** Throws before, in and after the call of its super's constructor. */
    public static final class Broken extends Frail {
        Broken(int when) {
            super(before(when), when == 1);
            if (when == 2) {
                throw new IllegalStateException("after");
            }
        }

        private static int before(int when) {
            if (when == 0) {
                throw new IllegalStateException("before");
            }
            return when;
        }
    }

    /** Throws if it is told to. */
    public static class Frail {
        Frail(int when, boolean breaks) {
            if (breaks) {
                throw new IllegalStateException("within " + when);
            }
        }
    }
}
