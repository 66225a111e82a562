import java.util.concurrent.ThreadLocalRandom;

/** Does what makes a JVM do something itself: threads, classes, compilations, a deoptimization, a collection, known allocations. */
public class Inside {
    static final int MUCH = 64 << 20;
    static final int ARRAY = 1_000;
    static volatile long sink;
    static volatile Object kept;

    static class Late {
        long value = 7;
    }

    public static void main(String[] args) throws Exception {
        Thread maker = new Thread(Inside::make, "maker");
        maker.start();
        maker.join();
        long end = System.nanoTime() + 1_200_000_000L;
        while (System.nanoTime() < end) sink += work(100_000, false);
        sink += work(100_000, true);
        sink += new Late().value;
        allocate();
        System.gc();
    }

    static void make() {
        Thread made = new Thread(() -> {
            try {
                Thread.sleep(60);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "made");
        made.start();
        try {
            made.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Compiled for what was seen so far, which is no longer so when it is rare. */
    static long work(int n, boolean rare) {
        long x = ThreadLocalRandom.current().nextInt();
        for (int i = 0; i < n; i++) {
            x = x * 31 + i;
            if (rare) x ^= x >>> 3;
        }
        return x;
    }

    static void allocate() {
        for (int done = 0; done < MUCH; done += ARRAY) kept = new byte[ARRAY - 16];
    }
}
