package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.tomcat.util.threads.TaskQueue;
import org.apache.tomcat.util.threads.TaskThreadFactory;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers and their events, with as few on their way at once as can be. */
@Timeout(60)
class EventQueueTest {
    /** Threads that a pool of this test has made. */
    private final Set<Thread> made = ConcurrentHashMap.newKeySet();

    private WorkerPool pool(int core, int most, long keepAliveMillis, TaskQueue like) {
        var tomcats = new ThreadPoolExecutor(core, most, keepAliveMillis, TimeUnit.MILLISECONDS, like, new TaskThreadFactory("tomcats-", true, 5));
        var threads = new TaskThreadFactory("workers-", true, 5);
        var pool = WorkerPool.like(tomcats, task -> {
            Thread worker = threads.newThread(task);
            made.add(worker);
            return worker;
        }, () -> 1);
        tomcats.shutdown();
        return pool;
    }

    private WorkerPool pool(int core, int most) {
        return pool(core, most, 60_000, new TaskQueue());
    }

    private List<Thread> workers() {
        return made.stream().filter(Thread::isAlive).toList();
    }

    private static void until(BooleanSupplier is) {
        while (!is.getAsBoolean()) { // ended by the test's time limit
            LockSupport.parkNanos(100_000);
        }
    }

    private static void ends(ThreadPoolExecutor pool) throws InterruptedException {
        pool.shutdown();
        assertTrue(pool.awaitTermination(20, TimeUnit.SECONDS), "workers that wait are to end");
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Its one worker has an event until this is open, or it is interrupted. */
    private static CountDownLatch occupy(WorkerPool pool) throws InterruptedException {
        var begun = new CountDownLatch(1);
        var open = new CountDownLatch(1);
        pool.execute(() -> {
            begun.countDown();
            await(open);
        });
        begun.await();
        return open;
    }

    @Test
    void each_event_runs_once_whoever_blocks() throws Exception {
        WorkerPool pool = pool(3, 8);
        int producers = 4;
        int each = 20_000;
        AtomicInteger ran = new AtomicInteger();
        List<Thread> begun = new ArrayList<>();
        for (int p = 0; p < producers; p++) {
            var producer = new Thread(() -> {
                for (int i = 0; i < each; i++) {
                    pool.execute(() -> {
                        ran.incrementAndGet();
                        if (ThreadLocalRandom.current().nextInt(500) == 0) {
                            LockSupport.parkNanos(200_000);
                        }
                    });
                    if (i % 64 == 0) {
                        LockSupport.parkNanos(50_000); // the queue becomes empty again and again: workers wait and are woken
                    }
                }
            });
            producer.start();
            begun.add(producer);
        }
        for (Thread producer : begun) {
            producer.join();
        }
        until(() -> ran.get() == producers * each);
        until(() -> pool.getQueue().isEmpty() && pool.getQueue().size() == 0);
        ends(pool);
        assertEquals(producers * each, ran.get());
    }

    @Test
    void no_event_waits_while_a_worker_does() throws Exception {
        int workers = 6;
        WorkerPool pool = pool(workers, workers);
        var allAtOnce = new CyclicBarrier(workers + 1);
        for (int round = 0; round < 2_000; round++) {
            for (int i = 0; i < workers; i++) {
                pool.execute(() -> {
                    try {
                        allAtOnce.await(); // returns when all of them have begun, each on a worker of its own
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
            }
            allAtOnce.await(10, TimeUnit.SECONDS);
        }
        ends(pool);
    }

    @Test
    void who_began_to_wait_last_is_woken_first() throws Exception {
        WorkerPool pool = pool(4, 4);
        until(() -> workers().stream().filter(w -> w.getState() == Thread.State.WAITING).count() == 4);
        Set<Thread> ran = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 50; i++) {
            var by = new CompletableFuture<Thread>();
            pool.execute(() -> by.complete(Thread.currentThread()));
            Thread worker = by.get(10, TimeUnit.SECONDS);
            until(() -> worker.getState() == Thread.State.WAITING);
            ran.add(worker);
        }
        assertEquals(1, ran.size(), "the others were not needed");
        ends(pool);
    }

    @Test
    void more_workers_are_made_while_all_block_and_end_when_they_have_nothing_to_do() throws Exception {
        WorkerPool pool = pool(2, 6, 100, new TaskQueue());
        var open = new CountDownLatch(1);
        for (int i = 0; i < 9; i++) {
            pool.execute(() -> await(open));
        }
        until(() -> pool.getActiveCount() == 6);
        assertEquals(3, pool.getQueue().size());
        open.countDown();
        until(() -> pool.getPoolSize() == 2);
        ends(pool);
    }

    @Test
    void what_still_waits_at_the_end_is_told() throws Exception {
        WorkerPool pool = pool(1, 1);
        occupy(pool);
        Runnable first = () -> { };
        Runnable second = () -> { };
        pool.execute(first);
        pool.execute(second);
        assertEquals(List.of(first, second), pool.shutdownNow());
        assertTrue(pool.awaitTermination(20, TimeUnit.SECONDS));
        assertThrows(RejectedExecutionException.class, () -> ((TaskQueue) pool.getQueue()).force(first));
    }

    @Test
    void no_more_wait_than_may() throws Exception {
        WorkerPool pool = pool(1, 1, 60_000, new TaskQueue(2));
        CountDownLatch open = occupy(pool);
        pool.execute(() -> { });
        pool.execute(() -> { });
        assertEquals(0, pool.getQueue().remainingCapacity());
        assertThrows(RejectedExecutionException.class, () -> pool.execute(() -> { }));
        open.countDown();
        until(() -> pool.getQueue().isEmpty());
        ends(pool);
    }

    @Test
    void workers_of_a_stopped_application_are_replaced() throws Exception {
        WorkerPool pool = pool(2, 2, 50, new TaskQueue());
        pool.setThreadRenewalDelay(0);
        List<Thread> before = workers();
        assertEquals(2, before.size());
        Thread.sleep(20); // they are older than what comes now
        pool.contextStopping();
        until(() -> workers().size() == 2 && workers().stream().noneMatch(before::contains));
        ends(pool);
    }

    @Test
    void a_connectors_workers_are_these_also_after_it_was_stopped_and_started() throws Exception {
        try (var server = new TestServer(GuardedTomcatTest.ALL, ChaosTest.TLS)) {
            new TlsClient("TLSv1.3", server.port()).served();
            var first = assertInstanceOf(WorkerPool.class, server.protocol().getExecutor());
            server.restart();
            assertTrue(first.isTerminated(), "its workers end with it");
            var second = assertInstanceOf(WorkerPool.class, server.protocol().getExecutor());
            assertFalse(second.isShutdown());
            new TlsClient("TLSv1.3", server.port()).served();
        }
    }
}
