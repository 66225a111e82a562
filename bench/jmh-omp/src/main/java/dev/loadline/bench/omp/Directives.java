package dev.loadline.bench.omp;

/** One directive each, as often as asked, with two threads: the set of EPCC's OpenMP microbenchmarks. */
final class Directives {
    private static double shared;

    private Directives() {}

    static void parallel() {
        //omp parallel num_threads(2)
        { }
    }

    /** Work for each of two threads. */
    static void parallelWork(int steps) {
        //omp parallel num_threads(2)
        work(steps);
    }

    /** So many steps of a generator of random numbers, each of which needs the one before it. */
    static void work(int steps) {
        long x = steps;
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        if (x == 0) {
            shared = steps; // never; but the compiler cannot know
        }
    }

    static double parallelForReduction() {
        double sum = 0;
        //omp parallel for num_threads(2) reduction(+ : sum)
        for (int i = 0; i < 2; i++) {
            sum += i;
        }
        return sum;
    }

    static void parallelFor() {
        //omp parallel for num_threads(2)
        for (int i = 0; i < 2; i++) { }
    }

    static void barrier(int count) {
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp barrier
        }
    }

    static void forStatic(int count) {
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp for schedule(static)
            for (int i = 0; i < 2; i++) { }
        }
    }

    static void forDynamic(int count) {
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp for schedule(dynamic)
            for (int i = 0; i < 2; i++) { }
        }
    }

    static void forGuided(int count) {
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp for schedule(guided)
            for (int i = 0; i < 2; i++) { }
        }
    }

    /** One loop of so many iterations, each with a part in order. */
    static double ordered(int count) {
        //omp parallel for ordered schedule(static, 1) num_threads(2)
        for (int i = 0; i < count; i++) {
            //omp ordered
            shared += 1;
        }
        return shared;
    }

    /** One thread makes so many tasks, and both run them. */
    static void task(int count) {
        //omp parallel num_threads(2)
        //omp single
        for (int k = 0; k < count; k++) {
            //omp task
            { }
        }
    }

    static double forReduction(int count) {
        double sum = 0;
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp for reduction(+ : sum)
            for (int i = 0; i < 2; i++) {
                sum += i;
            }
        }
        return sum;
    }

    static void single(int count) {
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp single
            { }
        }
    }

    static double critical(int count) {
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp critical
            shared += 1;
        }
        return shared;
    }

    static double atomic(int count) {
        double sum = 0;
        //omp parallel num_threads(2)
        for (int k = 0; k < count; k++) {
            //omp atomic
            sum += 1;
        }
        return sum;
    }
}
