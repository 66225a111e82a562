package dev.loadline.wholesale;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;

/**
 * What so many warehouses did at once.
 *
 * @param warehouses that were at work, a thread each
 * @param seconds that were measured
 * @param durations of each type's transactions, in nanoseconds
 * @param broken invariants that did not hold afterwards
 */
record Point(int warehouses, double seconds, Map<Transaction.Type, Histogram> durations, List<String> broken) {
    /** Is told how many transactions there were so far. */
    interface Watcher {
        void done(long transactions);
    }

    /** Measures one; interrupted, it ends its threads and throws. */
    static Point measure(Company company, int warehouses, double ramp, double measured, long seed) throws InterruptedException {
        return measure(company, warehouses, ramp, measured, seed, measured, transactions -> { });
    }

    /** The same, while {@code watcher} is told every so many seconds. */
    static Point measure(Company company, int warehouses, double ramp, double measured, long seed, double every, Watcher watcher) throws InterruptedException {
        company.open(warehouses);
        var clock = new Phase.Clock();
        var failure = new AtomicReference<Throwable>();
        var draws = new Draws(new SplittableRandom(seed * 31 + warehouses));
        List<Clerk> clerks = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (Warehouse warehouse : company.warehouses().subList(0, warehouses)) {
            var clerk = new Clerk(clock, new Transaction(company, warehouse, warehouses, draws.split()), draws.split());
            clerks.add(clerk);
            var thread = new Thread(clerk, "warehouse-" + warehouse.id);
            thread.setUncaughtExceptionHandler((t, e) -> failure.compareAndSet(null, e));
            threads.add(thread);
        }
        threads.forEach(Thread::start);
        double seconds;
        try {
            Thread.sleep(Math.round(ramp * 1e3));
            long begin = System.nanoTime();
            clock.set(Phase.MEASURED);
            for (double at = every; at < measured; at += every) {
                Thread.sleep(Math.max(0, Math.round(at * 1e3 - (System.nanoTime() - begin) / 1e6)));
                watcher.done(clerks.stream().mapToLong(Clerk::done).sum());
            }
            Thread.sleep(Math.max(0, Math.round(measured * 1e3 - (System.nanoTime() - begin) / 1e6)));
            clock.set(Phase.OVER);
            seconds = (System.nanoTime() - begin) / 1e9;
        } finally {
            clock.set(Phase.OVER);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a clerk failed with " + warehouses + " warehouses: " + failure.get(), failure.get());
        }
        Map<Transaction.Type, Histogram> all = new EnumMap<>(Transaction.Type.class);
        for (Clerk clerk : clerks) {
            clerk.durations().forEach((type, part) -> all.merge(type, part, (sum, more) -> {
                sum.add(more);
                return sum;
            }));
        }
        return new Point(warehouses, seconds, all, Invariants.broken(company));
    }

    long transactions() {
        return durations.values().stream().mapToLong(Histogram::getTotalCount).sum();
    }

    double perSecond() {
        return transactions() / seconds;
    }
}
