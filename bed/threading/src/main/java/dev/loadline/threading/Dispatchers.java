package dev.loadline.threading;

import dev.loadline.bed.Options;
import dev.loadline.bed.VirtualThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads that run the servant, for brokers that let us say which. */
public final class Dispatchers implements Executor, AutoCloseable {
    private final Executor executor;

    /**
     * Of that strategy: for the first two, whoever calls.
     *
     * @throws Options.UsageException if it would be a pool of virtual threads
     */
    public Dispatchers(Broker.Setting setting) {
        ThreadFactory threads = threads("dispatcher-", setting.virtual());
        executor = switch (setting.strategy()) {
            case PER_CLIENT, THREADED -> Runnable::run;
            case PER_REQUEST -> oneEach(threads);
            case POOL -> {
                if (setting.virtual()) {
                    throw new Options.UsageException("a pool of virtual threads bounds nothing that a thread costs: with --virtual take per-client or per-request");
                }
                var pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(setting.pool(), threads);
                pool.prestartAllCoreThreads();
                yield pool;
            }
        };
    }

    private static Executor oneEach(ThreadFactory threads) {
        return task -> threads.newThread(task).start();
    }

    /** Platform threads that end with the JVM, or virtual ones; with these names and a number. */
    public static ThreadFactory threads(String name, boolean virtual) {
        if (virtual) {
            return VirtualThreads.factory(name);
        }
        var made = new AtomicInteger();
        return task -> {
            var thread = new Thread(task, name + made.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    /** Those of a pool end when they have done what waits. */
    @Override
    public void close() {
        if (executor instanceof ExecutorService pool) {
            pool.shutdown();
        }
    }
}
