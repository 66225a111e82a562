package dev.loadline.grande;

/** The low-level part: how often a second a team can fork and join, meet at a barrier, take a lock. */
public final class LowLevel {
    private LowLevel() {}

    /** Regions per second. */
    static double forkJoin(int count) {
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            //omp parallel
            { }
        }
        return count / ((System.nanoTime() - begin) * 1e-9);
    }

    /** Barriers per second. */
    static double barrier(int count) {
        long begin = System.nanoTime();
        //omp parallel
        for (int i = 0; i < count; i++) {
            //omp barrier
        }
        return count / ((System.nanoTime() - begin) * 1e-9);
    }

    /** Increments under one lock per second, by the whole team. */
    static double sync(int count) {
        long begin = System.nanoTime();
        int total = 0;
        //omp parallel for
        for (int i = 0; i < count; i++) {
            //omp critical (sync)
            total++;
        }
        if (total != count) {
            throw new IllegalStateException(total + " increments came through of " + count);
        }
        return count / ((System.nanoTime() - begin) * 1e-9);
    }

    /** @param arguments how often; a million without */
    public static void main(String[] arguments) {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
        for (int round = 0; round < 3; round++) { // the last one is warm
            System.out.printf("ForkJoin %.0f/s  Barrier %.0f/s  Sync %.0f/s%n", forkJoin(count), barrier(count), sync(count));
        }
    }
}
