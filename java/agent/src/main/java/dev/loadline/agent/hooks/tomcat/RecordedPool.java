package dev.loadline.agent.hooks.tomcat;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/**
 * The workers of an endpoint that has its own pool. The endpoint sizes that pool and shuts it down,
 * and asks for its class before it does: so this is a pool of no threads, which passes everything on.
 */
final class RecordedPool extends ThreadPoolExecutor {
    private final ThreadPoolExecutor pool;
    private final Visits visits;

    RecordedPool(ThreadPoolExecutor pool, Visits visits) {
        super(0, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>());
        this.pool = pool;
        this.visits = visits;
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(visits.queued(task));
    }

    @Override
    public void shutdown() {
        pool.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return pool.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return pool.isShutdown();
    }

    @Override
    public boolean isTerminating() {
        return pool.isTerminating();
    }

    @Override
    public boolean isTerminated() {
        return pool.isTerminated();
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
        return pool.awaitTermination(time, unit);
    }

    @Override
    public void setThreadFactory(ThreadFactory factory) {
        pool.setThreadFactory(factory);
    }

    @Override
    public ThreadFactory getThreadFactory() {
        return pool.getThreadFactory();
    }

    @Override
    public void setRejectedExecutionHandler(RejectedExecutionHandler handler) {
        pool.setRejectedExecutionHandler(handler);
    }

    @Override
    public RejectedExecutionHandler getRejectedExecutionHandler() {
        return pool.getRejectedExecutionHandler();
    }

    @Override
    public void setCorePoolSize(int size) {
        pool.setCorePoolSize(size);
    }

    @Override
    public int getCorePoolSize() {
        return pool.getCorePoolSize();
    }

    @Override
    public boolean prestartCoreThread() {
        return pool.prestartCoreThread();
    }

    @Override
    public int prestartAllCoreThreads() {
        return pool == null ? 0 : pool.prestartAllCoreThreads(); // the superclass's constructor asks, too
    }

    @Override
    public boolean allowsCoreThreadTimeOut() {
        return pool.allowsCoreThreadTimeOut();
    }

    @Override
    public void allowCoreThreadTimeOut(boolean value) {
        pool.allowCoreThreadTimeOut(value);
    }

    @Override
    public void setMaximumPoolSize(int size) {
        pool.setMaximumPoolSize(size);
    }

    @Override
    public int getMaximumPoolSize() {
        return pool.getMaximumPoolSize();
    }

    @Override
    public void setKeepAliveTime(long time, TimeUnit unit) {
        pool.setKeepAliveTime(time, unit);
    }

    @Override
    public long getKeepAliveTime(TimeUnit unit) {
        return pool.getKeepAliveTime(unit);
    }

    @Override
    public long getThreadRenewalDelay() {
        return pool.getThreadRenewalDelay();
    }

    @Override
    public void setThreadRenewalDelay(long time) {
        pool.setThreadRenewalDelay(time);
    }

    @Override
    public BlockingQueue<Runnable> getQueue() {
        return pool.getQueue();
    }

    @Override
    public boolean remove(Runnable task) {
        return pool.remove(task);
    }

    @Override
    public void purge() {
        pool.purge();
    }

    @Override
    public void contextStopping() {
        pool.contextStopping();
    }

    @Override
    public int getPoolSize() {
        return pool.getPoolSize();
    }

    @Override
    public int getActiveCount() {
        return pool.getActiveCount();
    }

    @Override
    public int getLargestPoolSize() {
        return pool.getLargestPoolSize();
    }

    @Override
    public long getTaskCount() {
        return pool.getTaskCount();
    }

    @Override
    public long getCompletedTaskCount() {
        return pool.getCompletedTaskCount();
    }

    @Override
    public int getSubmittedCount() {
        return pool.getSubmittedCount();
    }

    @Override
    public String toString() {
        return pool.toString();
    }
}
