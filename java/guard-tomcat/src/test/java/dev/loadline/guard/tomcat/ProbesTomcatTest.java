package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;

/** Health probes of load balancers and orchestrators, each a new connection, while new connections are refused. */
class ProbesTomcatTest {
    /** One new connection takes all there is for some minutes; without an option for probes. */
    private static final String NO_ROOM = "cpus=1; fullCost=80000s; resumedCost=1us";

    private static TlsClient at(TestServer server, String address) throws Exception {
        return new TlsClient("TLSv1.3", server.port()).from(address);
    }

    private static TlsClient client(TestServer server, String address) {
        try {
            return at(server, address);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** A prober's own connection has no room either: it was let in, and is remembered. */
    private static TestServer refusing(String... attributes) throws Exception {
        var server = new TestServer(NO_ROOM, ChaosTest.TLS, attributes);
        assertTrue(at(server, "127.0.0.1").get("/healthz").startsWith("HTTP/1.1 200"));
        return server;
    }

    @Test
    void who_probed_in_calm_goes_on_being_served_while_others_are_refused() throws Exception {
        try (var server = refusing()) {
            int served = 0;
            for (int i = 0; i < 10; i++) {
                served += at(server, "127.0.0.1").get("/actuator/health/readiness").startsWith("HTTP/1.1 200") ? 1 : 0;
                assertFalse(at(server, "127.0.0.2").served());
                Thread.sleep(250);
            }
            assertEquals(10, served);
            assertTrue(server.figures().isRefusing());
            assertTrue(server.figures().getProbes() >= 10);
        }
    }

    @Test
    void who_is_unknown_may_try_once_and_its_first_request_decides() throws Exception {
        try (var server = refusing()) {
            assertTrue(at(server, "127.0.0.3").get("/livez").startsWith("HTTP/1.1 200"));
            assertTrue(at(server, "127.0.0.3").get("/livez").startsWith("HTTP/1.1 200"), "it is known now");
            Thread.sleep(1_500); // until there is room for another try
            var stranger = at(server, "127.0.0.4");
            String answer = stranger.get("/shop");
            assertTrue(answer.startsWith("HTTP/1.1 503") && answer.contains("Retry-After"), answer);
            Thread.sleep(1_500);
            assertThrows(IOException.class, () -> at(server, "127.0.0.4").get("/livez"), "it had its try");
        }
    }

    @Test
    void a_connection_for_a_probe_serves_nothing_else_and_no_session_begins_on_it() throws Exception {
        try (var server = refusing(); SSLSocket socket = at(server, "127.0.0.1").connect()) {
            assertTrue(TlsClient.get(socket, "/healthz", false).startsWith("HTTP/1.1 200"));
            assertTrue(TlsClient.get(socket, "/healthz", false).startsWith("HTTP/1.1 200"), "a prober may keep its connection");
            assertTrue(TlsClient.get(socket, "/healthz/../shop", false).startsWith("HTTP/1.1 503"));
            assertEquals(-1, socket.getInputStream().read());
            assertThrows(IOException.class, () -> at(server, "127.0.0.1").get("/healthz"), "it has lost its slot");
            assertEquals(0, server.figures().getErrors());
        }
    }

    /** Streams of HTTP/2 are not seen one by one: a connection whose requests must be seen speaks HTTP/1.1. */
    @Test
    void a_connection_for_a_probe_does_not_speak_http_2() throws Exception {
        try (var server = new TestServer(NO_ROOM, ChaosTest.TLS, "http2=true")) {
            assertEquals("h2", negotiated(at(server, "127.0.0.5")));
            assertEquals("http/1.1", negotiated(at(server, "127.0.0.6")));
            assertEquals(1, server.figures().getProbes());
        }
    }

    private static String negotiated(TlsClient client) throws IOException {
        try (SSLSocket socket = client.connect()) {
            var parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            return socket.getApplicationProtocol();
        }
    }

    @Test
    void at_three_times_saturation_twenty_five_of_twenty_five_probes_pass() throws Exception {
        int probers = 25;
        try (var server = new TestServer("cpus=2; fullCost=40ms; resumedCost=1us", ChaosTest.TLS)) {
            for (int i = 0; i < 100; i++) { // so that a handshake costs what it costs
                at(server, "127.0.1." + i % probers).get("/health");
                Thread.sleep(25);
            }
            var stop = new AtomicBoolean();
            var crowd = new AtomicInteger();
            var threads = new ArrayList<Thread>();
            for (int t = 0; t < 4; t++) {
                var thread = new Thread(() -> {
                    while (!stop.get()) { // fifty a second would fit
                        int n = crowd.incrementAndGet();
                        client(server, "127.2." + (n >> 8 & 255) + "." + (n & 255)).served();
                    }
                });
                thread.start();
                threads.add(thread);
            }
            TestServer.until("it refuses", () -> server.figures().getRefusedNew() > 20);
            long begin = System.nanoTime();
            int before = crowd.get();
            List<Integer> failed = new ArrayList<>();
            for (int i = 0; i < probers; i++) {
                try {
                    if (!at(server, "127.0.1." + i).get("/health").startsWith("HTTP/1.1 200")) {
                        failed.add(i);
                    }
                } catch (IOException e) {
                    failed.add(i);
                }
                Thread.sleep(200); // each once in five seconds
            }
            double perSecond = (crowd.get() - before) / ((System.nanoTime() - begin) / 1e9);
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), failed, "beside " + perSecond + " new connections a second");
            assertTrue(perSecond > 150, "new connections a second: " + perSecond);
        }
    }
}
