package dev.loadline.agent.hooks.tomcat;

import java.util.concurrent.Executor;
import org.apache.tomcat.util.threads.ResizableExecutor;

/**
 * The workers of an endpoint whose executor is shared, or makes a virtual thread for each event. The
 * endpoint asks such an executor for nothing but its figures, and never shuts it down.
 */
final class RecordedExecutor implements ResizableExecutor {
    private final Executor executor;
    private final Visits visits;

    RecordedExecutor(Executor executor, Visits visits) {
        this.executor = executor;
        this.visits = visits;
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(visits.queued(task));
    }

    @Override
    public int getPoolSize() {
        return executor instanceof ResizableExecutor ? ((ResizableExecutor) executor).getPoolSize()
                : executor instanceof java.util.concurrent.ThreadPoolExecutor
                        ? ((java.util.concurrent.ThreadPoolExecutor) executor).getPoolSize() : -1;
    }

    @Override
    public int getMaxThreads() {
        return executor instanceof ResizableExecutor ? ((ResizableExecutor) executor).getMaxThreads() : -1;
    }

    @Override
    public int getActiveCount() {
        return executor instanceof ResizableExecutor ? ((ResizableExecutor) executor).getActiveCount()
                : executor instanceof java.util.concurrent.ThreadPoolExecutor
                        ? ((java.util.concurrent.ThreadPoolExecutor) executor).getActiveCount() : -1;
    }

    @Override
    public boolean resizePool(int corePoolSize, int maximumPoolSize) {
        return executor instanceof ResizableExecutor
                && ((ResizableExecutor) executor).resizePool(corePoolSize, maximumPoolSize);
    }

    @Override
    public boolean resizeQueue(int capacity) {
        return executor instanceof ResizableExecutor && ((ResizableExecutor) executor).resizeQueue(capacity);
    }
}
