package dev.loadline.grande;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;

/**
 * A fixed pool whose threads run a region together with its caller, and meet at a barrier after each
 * loop. A pool of which a thread failed runs nothing more.
 */
final class PoolCrew extends Crew {
    private final ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, size - 1), code -> {
        Thread thread = new Thread(code);
        thread.setDaemon(true);
        return thread;
    });
    private final CyclicBarrier barrier = new CyclicBarrier(size);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private final class Member implements Hand {
        private final int number;

        Member(int number) {
            this.number = number;
        }

        @Override
        public void loop(int from, int to, IntConsumer body) {
            int end = blockBegin(number + 1, from, to);
            for (int i = blockBegin(number, from, to); i < end; i++) {
                body.accept(i);
            }
            meet();
        }

        @Override
        public void once(Runnable action) {
            if (number == 0) {
                action.run();
            }
            meet();
        }
    }

    private void meet() {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException("another thread ended early", e);
        }
    }

    @Override
    void region(Consumer<Hand> code) {
        each(number -> code.accept(new Member(number)));
    }

    @Override
    void each(IntConsumer part) {
        for (int i = 1; i < size; i++) {
            int number = i;
            pool.execute(() -> run(part, number));
        }
        run(part, 0);
        if (failure.get() != null) {
            throw new IllegalStateException("a thread of the pool failed", failure.get());
        }
    }

    private void run(IntConsumer part, int number) {
        try {
            part.accept(number);
            meet();
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
            breakBarrier();
        }
    }

    /**
     * Lets nobody wait who waits, and nobody who will: a reset would begin a new round, in which a
     * thread that comes later waits for ever. A barrier breaks when somebody is interrupted at it.
     */
    private void breakBarrier() {
        Thread.currentThread().interrupt();
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            Thread.interrupted();
        }
    }

    @Override
    long sum(int from, int to, IntToLongFunction term) {
        AtomicInteger next = new AtomicInteger(from);
        LongAdder sum = new LongAdder();
        each(number -> {
            long part = 0;
            for (int i = next.getAndIncrement(); i < to; i = next.getAndIncrement()) {
                part += term.applyAsLong(i);
            }
            sum.add(part);
        });
        return sum.sum();
    }

    @Override
    public void close() {
        pool.shutdown();
    }
}
