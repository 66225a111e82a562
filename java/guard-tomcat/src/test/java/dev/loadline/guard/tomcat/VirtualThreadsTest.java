package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that runs its events on virtual threads, as by {@code spring.threads.virtual.enabled=true}. */
class VirtualThreadsTest {
    private static final String ON = "useVirtualThreads=true";

    @BeforeAll
    static void thereAreSome() {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads are of JDK 21 and up");
    }

    /** What the guard learns of sessions that come one after another, each of a new client that asks twice. */
    private static double cost(String attribute, String path) throws Exception {
        try (var server = new TestServer("cpus=1000", ChaosTest.TLS, attribute)) {
            for (int i = 0; i < 120; i++) {
                try (var socket = new TlsClient("TLSv1.3", server.port()).connect()) {
                    TlsClient.get(socket, path, false);
                    TlsClient.get(socket, path, false);
                }
            }
            assertEquals(0, server.figures().getErrors());
            return server.figures().getNewCostMillis();
        }
    }

    @Test
    @Tag("one-tomcat")
    void costs_are_learnt_as_on_platform_threads() throws Exception {
        double platform = cost("useVirtualThreads=false", "/burn?ms=10");
        double virtual = cost(ON, "/burn?ms=10");
        assertTrue(platform > 10, "two requests of some 10 ms: " + platform);
        assertEquals(platform, virtual, 0.35 * platform);
    }

    @Test
    @Tag("one-tomcat")
    void time_in_which_requests_wait_is_no_cost() throws Exception {
        double virtual = cost(ON, "/sleep?ms=30");
        assertTrue(virtual < 25, "two requests that sleep for 30 ms each: " + virtual);
    }

    /** Sessions of some 30 ms, and clients of this same machine ask for more than fit an objective as short as that. */
    @Test
    void an_overloaded_server_serves_what_it_can_and_refuses_the_rest() throws Exception {
        try (var server = new TestServer("objective=p95=30ms; probeShare=0", ChaosTest.TLS, ON)) {
            var stop = new AtomicBoolean();
            var served = new AtomicInteger();
            var refused = new AtomicInteger();
            var servedMillis = new LongAdder();
            var clients = new ArrayList<Thread>();
            for (int i = 0; i < 12; i++) {
                var client = new Thread(() -> {
                    while (!stop.get()) {
                        long begin = System.nanoTime();
                        if (session(server)) {
                            served.incrementAndGet();
                            servedMillis.add((System.nanoTime() - begin) / 1_000_000);
                        } else {
                            refused.incrementAndGet();
                        }
                        pause(20);
                    }
                });
                client.start();
                clients.add(client);
            }
            Thread.sleep(8_000); // costs are learnt
            int servedBefore = served.get();
            int refusedBefore = refused.get();
            long millisBefore = servedMillis.sum();
            Thread.sleep(6_000);
            double perSecond = (served.get() - servedBefore) / 6.0;
            double mean = (double) (servedMillis.sum() - millisBefore) / (served.get() - servedBefore);
            stop.set(true);
            for (Thread client : clients) {
                client.join();
            }
            String found = perSecond + "/s served in " + mean + " ms, " + (refused.get() - refusedBefore) / 6.0 + "/s refused, new "
                + server.figures().getNewCostMillis() + " ms";
            assertTrue(server.figures().getNewCostMillis() > 15, found);
            assertTrue(refused.get() > refusedBefore, found);
            assertTrue(perSecond > 1 && mean < 1_000, found);
            assertEquals(0, server.figures().getErrors());
        }
    }

    private static boolean session(TestServer server) {
        try (var socket = new TlsClient("TLSv1.3", server.port()).connect()) {
            return TlsClient.get(socket, "/burn?ms=10", false).startsWith("HTTP/1.1 200")
                && TlsClient.get(socket, "/burn?ms=10", false).startsWith("HTTP/1.1 200");
        } catch (Exception e) {
            return false;
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
