package dev.loadline.bench.omp;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What a directive costs, and what the same costs with what the JDK has, two threads each. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Overheads {
    private static final int MANY = 2000;
    /** Some microseconds of work: two of them are worth a second thread. */
    private static final int STEPS = 4000;

    private ExecutorService pool;
    private CyclicBarrier barrier;
    private ForkJoinPool forkJoin;
    private final ReentrantLock lock = new ReentrantLock();
    private final double[] parts = new double[32]; // two, on cache lines of their own
    private double shared;

    /** Two threads each. */
    @Setup
    public void setup() {
        pool = Executors.newFixedThreadPool(1);
        barrier = new CyclicBarrier(2);
        forkJoin = new ForkJoinPool(2);
    }

    /** Lets them go. */
    @TearDown
    public void tearDown() {
        pool.shutdown();
        forkJoin.shutdown();
    }

    @Benchmark
    public void ompParallel() {
        Directives.parallel();
    }

    /** What each of two threads does in those named …Work, by one. */
    @Benchmark
    public void aloneWork() {
        Directives.work(STEPS);
    }

    @Benchmark
    public void ompParallelWork() {
        Directives.parallelWork(STEPS);
    }

    @Benchmark
    public void streamParallelWork() {
        IntStream.range(0, 2).parallel().forEach(i -> Directives.work(STEPS));
    }

    @Benchmark
    public void forkJoinParallelWork() {
        forkJoin.invoke(new Pair(new Work(), new Work()));
    }

    private static final class Pair extends RecursiveAction {
        private static final long serialVersionUID = 1;
        private final RecursiveAction first;
        private final RecursiveAction second;

        Pair(RecursiveAction first, RecursiveAction second) {
            this.first = first;
            this.second = second;
        }

        @Override
        protected void compute() {
            invokeAll(first, second);
        }
    }

    private static final class Work extends RecursiveAction {
        private static final long serialVersionUID = 1;

        @Override
        protected void compute() {
            Directives.work(STEPS);
        }
    }

    @Benchmark
    public void poolParallelWork() throws InterruptedException, BrokenBarrierException {
        pool.execute(() -> {
            Directives.work(STEPS);
            meet();
        });
        Directives.work(STEPS);
        barrier.await();
    }

    @Benchmark
    public void ompParallelFor() {
        Directives.parallelFor();
    }

    @Benchmark
    public double ompParallelForReduction() {
        return Directives.parallelForReduction();
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void ompBarrier() {
        Directives.barrier(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void ompForStatic() {
        Directives.forStatic(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void ompForDynamic() {
        Directives.forDynamic(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void ompForGuided() {
        Directives.forGuided(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public double ompOrdered() {
        return Directives.ordered(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void ompTask() {
        Directives.task(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public double ompForReduction() {
        return Directives.forReduction(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void ompSingle() {
        Directives.single(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public double ompCritical() {
        return Directives.critical(MANY);
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public double ompAtomic() {
        return Directives.atomic(MANY);
    }

    @Benchmark
    public void streamParallel() {
        IntStream.range(0, 2).parallel().forEach(i -> { });
    }

    @Benchmark
    public double streamParallelForReduction() {
        return IntStream.range(0, 2).parallel().asDoubleStream().sum();
    }

    /** One task per element, as streams that have few elements do. */
    @Benchmark
    @OperationsPerInvocation(MANY)
    public void streamTask() {
        IntStream.range(0, MANY).parallel().forEach(i -> { });
    }

    @Benchmark
    public void forkJoinParallel() {
        forkJoin.invoke(new Pair(new Nothing(), new Nothing()));
    }

    @Benchmark
    public double forkJoinParallelForReduction() {
        return forkJoin.invoke(new Both());
    }

    private static final class Both extends RecursiveTask<Double> {
        private static final long serialVersionUID = 1;

        @Override
        protected Double compute() {
            var right = new Term(1);
            right.fork();
            return new Term(0).compute() + right.join();
        }
    }

    private static final class Term extends RecursiveTask<Double> {
        private static final long serialVersionUID = 1;
        private final int i;

        Term(int i) {
            this.i = i;
        }

        @Override
        protected Double compute() {
            return (double) i;
        }
    }

    /** One worker forks so many tasks and waits for them, and both run them. */
    @Benchmark
    @OperationsPerInvocation(MANY)
    public void forkJoinTask() {
        forkJoin.invoke(new RecursiveAction() {
            private static final long serialVersionUID = 1;

            @Override
            protected void compute() {
                var tasks = new Nothing[MANY];
                for (int i = 0; i < MANY; i++) {
                    tasks[i] = new Nothing();
                    tasks[i].fork();
                }
                for (int i = MANY - 1; i >= 0; i--) {
                    tasks[i].join();
                }
            }
        });
    }

    private static final class Nothing extends RecursiveAction {
        private static final long serialVersionUID = 1;

        @Override
        protected void compute() { }
    }

    @Benchmark
    public void poolParallel() throws InterruptedException, BrokenBarrierException {
        pool.execute(this::meet);
        barrier.await();
    }

    @Benchmark
    @OperationsPerInvocation(MANY)
    public void poolBarrier() throws InterruptedException, BrokenBarrierException {
        pool.execute(() -> {
            for (int i = 0; i < MANY; i++) {
                meet();
            }
        });
        for (int i = 0; i < MANY; i++) {
            barrier.await();
        }
    }

    @Benchmark
    public double poolParallelForReduction() throws InterruptedException, BrokenBarrierException {
        pool.execute(() -> {
            parts[16] = 1;
            meet();
        });
        parts[0] = 0;
        barrier.await();
        return parts[0] + parts[16];
    }

    /** Increments under a lock, by both. */
    @Benchmark
    @OperationsPerInvocation(MANY)
    public double poolCritical() throws InterruptedException, BrokenBarrierException {
        pool.execute(() -> {
            increment();
            meet();
        });
        increment();
        barrier.await();
        return shared;
    }

    private void increment() {
        for (int i = 0; i < MANY; i++) {
            lock.lock();
            try {
                shared += 1;
            } finally {
                lock.unlock();
            }
        }
    }

    /** Tasks that the pool runs, waited for all together. */
    @Benchmark
    @OperationsPerInvocation(MANY)
    public void poolTask() throws InterruptedException {
        var done = new CountDownLatch(MANY);
        for (int i = 0; i < MANY; i++) {
            pool.execute(done::countDown);
        }
        done.await();
    }

    private void meet() {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }
}
