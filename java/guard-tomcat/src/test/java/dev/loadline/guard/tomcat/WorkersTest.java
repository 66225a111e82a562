package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.guard.InsideForTest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which threads are a connector's: those that run its events, whatever they are called. */
class WorkersTest {
    /** A thread counts from the first reading after its first event on: here it is known when the reading begins. */
    private static final String[] ONE_WORKER = {"minSpareThreads=1", "maxThreads=1"};

    @BeforeAll
    static void kernelSays() {
        assumeTrue(Files.isReadable(Path.of("/proc/thread-self/schedstat")), "only Linux says what threads ran");
    }

    /** Has a connection burn CPU time in its servlet, and returns what the guard of a server saw its threads run meanwhile. */
    private static double seenMillis(TestServer watched, TestServer burning) throws Exception {
        try (SSLSocket socket = new TlsClient("TLSv1.3", burning.port()).connect()) {
            TlsClient.get(socket, "/warm", false);
            var threads = InsideForTest.threads(watched.protocol().guard());
            threads.sinceLast();
            assertTrue(TlsClient.get(socket, "/burn?ms=200", false).startsWith("HTTP/1.1 200"));
            return threads.sinceLast().runNanos() / 1e6;
        }
    }

    @Test
    void two_connectors_do_not_measure_each_other() throws Exception {
        try (var one = new TestServer(GuardedTomcatTest.ALL, ChaosTest.TLS, ONE_WORKER);
             var other = new TestServer(GuardedTomcatTest.ALL, ChaosTest.TLS, ONE_WORKER)) {
            new TlsClient("TLSv1.3", one.port()).served();
            new TlsClient("TLSv1.3", other.port()).served();
            InsideForTest.endThread(one.protocol().guard());
            double others = seenMillis(one, other);
            double own = seenMillis(one, one);
            assertTrue(own > 50 && others < own / 4, "ms: own " + own + ", of the other " + others);
        }
    }

    @Test
    void workers_of_a_shared_executor_are_found() throws Exception {
        var pool = Executors.newFixedThreadPool(1, task -> new Thread(task, "whatever they are called"));
        try (var server = new TestServer(GuardedTomcatTest.ALL, ChaosTest.TLS)) {
            server.restart(pool);
            assertEquals(pool, server.protocol().getExecutor());
            InsideForTest.endThread(server.protocol().guard());
            double own = seenMillis(server, server);
            assertTrue(own > 50, "ms: " + own);
        } finally {
            pool.shutdownNow();
        }
    }
}
