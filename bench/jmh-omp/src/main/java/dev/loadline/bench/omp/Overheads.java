package dev.loadline.bench.omp;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.TimeUnit;
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

    private ExecutorService pool;
    private CyclicBarrier barrier;
    private ForkJoinPool forkJoin;

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
    public int streamParallelForReduction() {
        return IntStream.range(0, 2).parallel().sum();
    }

    @Benchmark
    public void forkJoinParallel() {
        forkJoin.invoke(new RecursiveAction() {
            private static final long serialVersionUID = 1;

            @Override
            protected void compute() {
                invokeAll(new Nothing(), new Nothing());
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

    private void meet() {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }
}
