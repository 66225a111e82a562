package dev.loadline.guard.tomcat;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/** A connector's workers: Tomcat's own pool, in all but the queue of their events. */
final class WorkerPool extends ThreadPoolExecutor {
    private WorkerPool(ThreadPoolExecutor like, EventQueue queue, ThreadFactory threads) {
        super(like.getCorePoolSize(), like.getMaximumPoolSize(), like.getKeepAliveTime(TimeUnit.NANOSECONDS), TimeUnit.NANOSECONDS, queue, threads);
        queue.pool(this);
    }

    /**
     * Set as this one, which is to be ended by who made it.
     *
     * @param cpus at hand; asked often
     */
    static WorkerPool like(ThreadPoolExecutor pool, ThreadFactory threads, IntSupplier cpus) {
        return new WorkerPool(pool, new EventQueue(pool.getQueue().remainingCapacity(), cpus), threads);
    }

    /** Whether it may have more workers, and has fewer than events. */
    boolean wantsWorker() {
        int workers = getPoolSizeNoLock();
        return workers < getMaximumPoolSize() && getSubmittedCount() > workers;
    }

    /** Whether the current thread has worked for an application that was stopped: it is to be replaced by another. */
    boolean isOfStoppedApplication() {
        return currentThreadShouldBeStopped();
    }

    /** @throws RuntimeException Tomcat's own, which ends the thread, if it is so */
    void endIfOfStoppedApplication() {
        stopCurrentThreadIfNeeded();
    }
}
