package dev.loadline.auction.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class LostNotifyTest {
    private static Connection fake() {
        return (Connection) Proxy.newProxyInstance(LostNotifyTest.class.getClassLoader(), new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> method.getReturnType() == boolean.class ? true : null);
    }

    private static void waitUntil(LostNotify.Pool pool, int waiting) throws Exception {
        for (int i = 0; i < 1000; i++) {
            if (pool.waiting() == waiting) {
                return;
            }
            Thread.sleep(10);
        }
        throw new AssertionError(pool.waiting() + " wait, not " + waiting);
    }

    /** Two releases while two wait, before the first waiter runs: the sequence of Guitart 2005, 3.4.2.3. */
    @Test
    void aSecondReleaseBeforeTheFirstWaiterRunsWakesNobody() throws Exception {
        var pool = new LostNotify.Pool(LostNotifyTest::fake, 2);
        var threads = Executors.newFixedThreadPool(2);
        try {
            var first = pool.getConnection();
            var second = pool.getConnection();
            var got = new CountDownLatch(2);
            var waiters = new ArrayList<Future<Connection>>();
            for (int i = 0; i < 2; i++) {
                waiters.add(threads.submit(() -> {
                    var connection = pool.getConnection();
                    got.countDown();
                    return connection;
                }));
            }
            waitUntil(pool, 2);
            synchronized (pool) { // Held, so that the woken thread cannot run in between.
                first.close();
                second.close();
            }
            waitUntil(pool, 1);
            assertFalse(got.await(300, TimeUnit.MILLISECONDS), "both waiters got a connection");
            assertEquals(1, got.getCount());
            assertEquals(1, pool.waitingInVain());
            pool.close();
            int refused = 0;
            for (var waiter : waiters) {
                try {
                    waiter.get(10, TimeUnit.SECONDS);
                } catch (java.util.concurrent.ExecutionException e) {
                    assertTrue(e.getCause() instanceof SQLTransientConnectionException);
                    refused++;
                }
            }
            assertEquals(1, refused);
            assertThrows(SQLTransientConnectionException.class, pool::getConnection);
        } catch (TimeoutException e) {
            throw new AssertionError("closing the pool let nobody go", e);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void connectionsThatComeBackTogetherAfterATestWakeOneOfThoseWhoWait() throws Exception {
        var pool = new LostNotify.Pool(LostNotifyTest::fake, 40);
        var threads = Executors.newFixedThreadPool(4);
        try {
            var test = threads.submit(() -> {
                pool.check();
                return null;
            });
            var waiters = new ArrayList<Future<Connection>>();
            for (int i = 0; i < 3; i++) {
                while (pool.free() > 0) {
                    Thread.onSpinWait();
                }
                waiters.add(threads.submit(() -> pool.getConnection()));
            }
            waitUntil(pool, 3);
            test.get(10, TimeUnit.SECONDS);
            assertTrue(pool.waitingInVain() >= 1, "all were woken");
            for (var waiter : waiters) {
                waiter.get(10, TimeUnit.SECONDS); // By itself, a second later.
            }
        } finally {
            threads.shutdownNow();
            pool.close();
        }
    }
}
