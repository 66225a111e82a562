package dev.loadline.threading.glassfish;

import com.sun.corba.ee.spi.threadpool.ThreadPool;
import com.sun.corba.ee.spi.threadpool.Work;
import com.sun.corba.ee.spi.threadpool.WorkQueue;
import dev.loadline.threading.Dispatchers;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The broker's threads as the strategy has them, in the broker's own terms: work that is added to a queue of a pool. */
final class WorkThreads implements ThreadPool, WorkQueue {
    private final Dispatchers dispatchers;
    private final int threads;
    private final AtomicLong added = new AtomicLong();
    private final AtomicInteger busy = new AtomicInteger();
    private final AtomicLong done = new AtomicLong();

    /** {@code threads} is how many there are at most. */
    WorkThreads(Dispatchers dispatchers, int threads) {
        this.dispatchers = dispatchers;
        this.threads = threads;
    }

    @Override
    public void addWork(Work work) {
        added.incrementAndGet();
        dispatchers.execute(() -> run(work));
    }

    private void run(Work work) {
        busy.incrementAndGet();
        try {
            work.doWork();
        } finally {
            busy.decrementAndGet();
            done.incrementAndGet();
        }
    }

    @Override
    public void close() {
        dispatchers.close();
    }

    @Override
    public String getName() {
        return "servants";
    }

    @Override
    public WorkQueue getAnyWorkQueue() {
        return this;
    }

    @Override
    public WorkQueue getWorkQueue(int queue) {
        return this;
    }

    @Override
    public ThreadPool getThreadPool() {
        return this;
    }

    @Override
    public void setThreadPool(ThreadPool pool) {
        if (pool != this) {
            throw new IllegalArgumentException("these threads take their work from one queue, which is theirs");
        }
    }

    @Override
    public int numberOfWorkQueues() {
        return 1;
    }

    @Override
    public int minimumNumberOfThreads() {
        return 0;
    }

    @Override
    public int maximumNumberOfThreads() {
        return threads;
    }

    @Override
    public long idleTimeoutForThreads() {
        return Long.MAX_VALUE;
    }

    @Override
    public int currentNumberOfThreads() {
        return numberOfBusyThreads();
    }

    @Override
    public int numberOfAvailableThreads() {
        return threads - numberOfBusyThreads();
    }

    @Override
    public int numberOfBusyThreads() {
        return busy.get();
    }

    @Override
    public long currentProcessedCount() {
        return done.get();
    }

    @Override
    public long totalWorkItemsAdded() {
        return added.get();
    }

    @Override
    public int workItemsInQueue() {
        return (int) (added.get() - done.get()) - busy.get();
    }

    /** Not measured here: the driver measures. */
    @Override
    public long averageWorkCompletionTime() {
        return 0;
    }

    /** Not measured here: the driver measures. */
    @Override
    public long averageTimeInQueue() {
        return 0;
    }
}
