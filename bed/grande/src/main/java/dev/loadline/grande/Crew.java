package dev.loadline.grande;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * What the JDK has in place of OpenMP: parallel streams, a ForkJoin pool, or ({@link PoolCrew}) a fixed
 * pool of threads that meet at a {@link java.util.concurrent.CyclicBarrier}. The kernels use them as
 * someone would who knows them: streams and ForkJoin for one loop at a time, the pool's threads for
 * as long as they have loops to share.
 */
abstract class Crew implements AutoCloseable {
    /** Threads, one per CPU: what the common pool has, with its caller. */
    final int size = Runtime.getRuntime().availableProcessors();

    /** One of those who run a region's code; where that is only the caller, its loops bring in the others. */
    interface Hand {
        /** Runs a loop whose iterations are independent, and returns when all of them are done. */
        void loop(int from, int to, IntConsumer body);

        /** Runs this once, while the others wait. */
        void once(Runnable action);
    }

    /** Runs code with loops in it. */
    abstract void region(Consumer<Hand> code);

    /** Runs this once for each number below {@link #size}, all at the same time. */
    abstract void each(IntConsumer part);

    /** Adds up what a function says for each number, which may take long for some and not for others. */
    abstract long sum(int from, int to, IntToLongFunction term);

    /** The first of the numbers from which on a part of a loop is one thread's. */
    final int blockBegin(int part, int from, int to) {
        return from + (int) ((long) (to - from) * part / size);
    }

    @Override
    public void close() { }

    /** A crew by its name. */
    static Crew of(String name) {
        return switch (name) {
            case "streams" -> new Streams();
            case "forkjoin" -> new ForkJoin();
            case "pool" -> new PoolCrew();
            default -> throw new IllegalArgumentException("there is no crew '" + name + "'; there are streams, forkjoin, pool");
        };
    }

    /** Where the caller runs the region and each loop is a parallel operation of its own. */
    private abstract static class CallerRuns extends Crew implements Hand {
        @Override
        final void region(Consumer<Hand> code) {
            code.accept(this);
        }

        @Override
        public final void once(Runnable action) {
            action.run();
        }
    }

    private static final class Streams extends CallerRuns {
        @Override
        public void loop(int from, int to, IntConsumer body) {
            IntStream.range(from, to).parallel().forEach(body);
        }

        @Override
        void each(IntConsumer part) {
            IntStream.range(0, size).parallel().forEach(part);
        }

        @Override
        long sum(int from, int to, IntToLongFunction term) {
            return IntStream.range(from, to).parallel().mapToLong(term::applyAsLong).sum();
        }
    }

    private static final class ForkJoin extends CallerRuns {
        /** Pieces per thread: enough to even out, few enough not to be felt. */
        private static final int PIECES = 4;

        private final ForkJoinPool pool = new ForkJoinPool(size);

        @Override
        public void loop(int from, int to, IntConsumer body) {
            pool.invoke(new Loop(from, to, Math.max(1, (to - from) / (PIECES * size)), body));
        }

        @Override
        void each(IntConsumer part) {
            pool.invoke(new Loop(0, size, 1, part));
        }

        @Override
        long sum(int from, int to, IntToLongFunction term) {
            return pool.invoke(new Sum(from, to, Math.max(1, (to - from) / (4 * PIECES * size)), term));
        }

        @Override
        public void close() {
            pool.shutdown();
        }
    }

    private static final class Loop extends RecursiveAction {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;
        private final int leaf;
        private final transient IntConsumer body;

        Loop(int from, int to, int leaf, IntConsumer body) {
            this.from = from;
            this.to = to;
            this.leaf = leaf;
            this.body = body;
        }

        @Override
        protected void compute() {
            if (to - from > leaf) {
                int middle = (from + to) >>> 1;
                invokeAll(new Loop(from, middle, leaf, body), new Loop(middle, to, leaf, body));
            } else {
                for (int i = from; i < to; i++) {
                    body.accept(i);
                }
            }
        }
    }

    private static final class Sum extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;
        private final int leaf;
        private final transient IntToLongFunction term;

        Sum(int from, int to, int leaf, IntToLongFunction term) {
            this.from = from;
            this.to = to;
            this.leaf = leaf;
            this.term = term;
        }

        @Override
        protected Long compute() {
            if (to - from > leaf) {
                int middle = (from + to) >>> 1;
                Sum right = new Sum(middle, to, leaf, term);
                right.fork();
                return new Sum(from, middle, leaf, term).compute() + right.join();
            }
            long sum = 0;
            for (int i = from; i < to; i++) {
                sum += term.applyAsLong(i);
            }
            return sum;
        }
    }
}
