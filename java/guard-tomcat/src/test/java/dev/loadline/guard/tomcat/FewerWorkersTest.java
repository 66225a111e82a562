package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.InsideForTest;
import dev.loadline.guard.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;

/** A limit on the events that run at once, in a real Tomcat that is told that its CPUs are short. */
class FewerWorkersTest {
    /** With a quarter of a CPU one event may run at a time. */
    private static final double ONE_PLACE = 0.25;

    private static TestServer shortOfCpus() throws Exception {
        var server = new TestServer("fewerWorkers=true", ChaosTest.TLS);
        InsideForTest.shortOfCpus(server.protocol().guard(), ONE_PLACE);
        assertEquals(1, server.figures().getWorkerPlaces());
        return server;
    }

    private static List<Future<String>> get(ExecutorService clients, TestServer server, String path, int many) {
        var answers = new ArrayList<Future<String>>();
        for (int i = 0; i < many; i++) {
            answers.add(clients.submit(() -> new TlsClient("TLSv1.3", server.port()).get(path)));
        }
        return answers;
    }

    @Test
    void all_are_served_who_wait_for_a_place() throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(20);
        try (var server = shortOfCpus()) {
            for (Future<String> answer : get(clients, server, "/burn?ms=2", 30)) {
                assertTrue(answer.get(20, TimeUnit.SECONDS).endsWith("hello /burn"));
            }
            TestServer.until("nothing is under way", () -> server.figures().getEventsUnderWay() == 0);
            assertEquals(0, server.figures().getErrors());
        } finally {
            clients.shutdownNow();
        }
    }

    @Test
    void requests_that_block_do_not_keep_others_waiting_for_long() throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(20);
        try (var server = shortOfCpus(); SSLSocket other = new TlsClient("TLSv1.3", server.port()).connect()) {
            TlsClient.get(other, "/warm", false);
            get(clients, server, "/sleep?ms=4000", 20);
            TestServer.until("several of them are there", () -> server.figures().getFullHandshakes() >= 4);
            long begin = System.nanoTime();
            assertTrue(TlsClient.get(other, "/ok", false).endsWith("hello /ok"));
            long millis = (System.nanoTime() - begin) / 1_000_000;
            assertTrue(millis < 3_500, "as long as one of them blocks, or longer: " + millis + " ms");
        } finally {
            clients.shutdownNow();
        }
    }

    @Test
    void switched_off_or_stopped_nobody_waits_any_more() throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(20);
        try (var server = shortOfCpus()) {
            List<Future<String>> answers = get(clients, server, "/sleep?ms=300", 20);
            TestServer.until("they are under way", () -> server.figures().getEventsUnderWay() > 2);
            server.protocol().guard().mode(Mode.OFF);
            assertEquals(0, server.figures().getWorkerPlaces());
            for (Future<String> answer : answers) {
                assertTrue(answer.get(20, TimeUnit.SECONDS).endsWith("hello /sleep"));
            }
            server.protocol().guard().mode(Mode.ENFORCE);
            TestServer.until("there is one place", () -> server.figures().getWorkerPlaces() == 1);
            get(clients, server, "/sleep?ms=300", 20);
            TestServer.until("they are under way", () -> server.figures().getEventsUnderWay() > 2);
            server.restart();
            assertEquals("hello /again", new TlsClient("TLSv1.3", server.port()).get("/again").split("\r\n\r\n")[1].trim());
        } finally {
            clients.shutdownNow();
        }
    }
}
