package dev.loadline.share.adapt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.share.Assignment;
import java.util.BitSet;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AdaptersTest {
    private static Assignment of(double cpus) {
        return new Assignment(cpus, new BitSet(), true);
    }

    @Test
    void a_thread_pool_grows_and_shrinks_with_the_cpus() {
        var pool = new ThreadPoolExecutor(4, 8, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        try {
            PoolSize size = PoolSize.of(pool, 10, 2);
            size.accept(of(0.3));
            assertEquals(3, pool.getMaximumPoolSize());
            assertEquals(3, pool.getCorePoolSize());
            size.accept(of(2));
            assertEquals(20, pool.getMaximumPoolSize());
            size.accept(of(0));
            assertEquals(2, pool.getMaximumPoolSize());
        } finally {
            pool.shutdown();
        }
    }

    /** Shaped as HikariCP's data source. */
    public static final class Connections {
        private int most = 10;
        private int idle = 10;

        public void setMaximumPoolSize(int n) {
            if (n < 1) {
                throw new IllegalArgumentException("maxPoolSize cannot be less than 1");
            }
            most = n;
        }

        public int getMaximumPoolSize() {
            return most;
        }

        public void setMinimumIdle(int n) {
            if (n > most) {
                throw new IllegalArgumentException("minIdle above the maximum");
            }
            idle = n;
        }

        public int getMinimumIdle() {
            return idle;
        }
    }

    @Test
    void a_connection_pool_does_too() {
        var connections = new Connections();
        PoolSize size = PoolSize.of(connections, 4, 1);
        size.accept(of(0.5));
        assertEquals(2, connections.most);
        assertEquals(2, connections.idle);
        size.accept(of(4));
        assertEquals(16, connections.most);
    }

    @Test
    void what_has_no_size_is_refused() {
        assertThrows(IllegalArgumentException.class, () -> PoolSize.of("text", 1, 1));
        assertThrows(IllegalArgumentException.class, () -> PoolSize.of(new Connections(), 0, 1));
    }

    @Test
    void the_common_pool_follows_where_the_jdk_can() {
        assumeTrue(Runtime.version().feature() >= 19, "fixed before 19");
        int before = ForkJoinPool.commonPool().getParallelism();
        CommonPool pool = CommonPool.find().orElseThrow();
        try {
            pool.accept(of(6));
            assertEquals(5, ForkJoinPool.commonPool().getParallelism());
        } finally {
            pool.accept(of(before + 1));
        }
    }

    @Test
    void virtual_threads_follow_where_the_jdk_can() throws Exception {
        assumeTrue(Runtime.version().feature() >= 24, "fixed before 24");
        VirtualThreads threads = VirtualThreads.find().orElseThrow();
        threads.accept(of(3));
        var bean = java.lang.management.ManagementFactory.getPlatformMBeanServer();
        var name = new javax.management.ObjectName("jdk.management:type=VirtualThreadScheduler");
        assertEquals(3, bean.getAttribute(name, "Parallelism"));
        threads.accept(of(Runtime.getRuntime().availableProcessors()));
    }
}
