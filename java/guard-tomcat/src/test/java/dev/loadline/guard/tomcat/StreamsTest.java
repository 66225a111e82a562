package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.GuardMXBean;
import dev.loadline.guard.InsideForTest;
import dev.loadline.guard.Mode;
import dev.loadline.guard.policy.Objective;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Streams of HTTP/2, each of which is a request, with the connector's guard and nothing beside. */
class StreamsTest {
    /** One session takes all there is for as long as a test lasts. Not busy by itself: that of connections lets everybody in. */
    private static final String ONE_SESSION = "fullCost=80000s; cpus=1; resumedCost=1us; retryAfter=7s";

    private final TestServer server;
    private final HttpClient client;

    StreamsTest() throws Exception {
        server = new TestServer(ONE_SESSION, ChaosTest.TLS, "http2=");
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(TlsClient.trusting()).build();
    }

    private CompletableFuture<HttpResponse<String>> send(String path, String session) {
        var request = HttpRequest.newBuilder(URI.create("https://localhost:" + server.port() + path));
        if (session != null) {
            request.header("Cookie", "JSESSIONID=" + session);
        }
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path, String session) {
        HttpResponse<String> reply = send(path, session).join();
        assertEquals(HttpClient.Version.HTTP_2, reply.version());
        return reply;
    }

    private GuardMXBean figures() {
        return server.protocol().streamGuard().figures();
    }

    /** A session is in, and there is room for no other. */
    private void fill() throws InterruptedException {
        InsideForTest.makeBusy(server.protocol().streamGuard());
        assertEquals(200, get("/", "mine").statusCode());
        TestServer.until("its session is known", () -> figures().getNewSessions() == 1);
    }

    @Test
    void of_streams_of_one_connection_those_of_new_sessions_are_refused() throws Exception {
        try (server) {
            fill();
            List<CompletableFuture<HttpResponse<String>>> theirs = new ArrayList<>();
            List<CompletableFuture<HttpResponse<String>>> others = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                theirs.add(send("/", "mine"));
                others.add(send("/", i % 2 == 0 ? null : "forged" + i));
            }
            for (var one : theirs) {
                assertEquals(200, one.join().statusCode());
            }
            for (var one : others) {
                assertEquals(503, one.join().statusCode());
                assertEquals("7", one.join().headers().firstValue("Retry-After").orElse(""));
                assertTrue(one.join().body().contains("busy"));
            }
            assertEquals(200, get("/healthz", null).statusCode());
            assertEquals(1, server.figures().getConnections(), "all of that on one connection");
            assertEquals(20, figures().getRefusedNew());
            assertEquals(0, figures().getErrors() + server.figures().getErrors());
            TestServer.until("all is over", () -> figures().getEventsUnderWay() == 0);
        }
    }

    @Test
    void it_follows_the_guard_of_the_connector() throws Exception {
        try (server) {
            fill();
            server.protocol().guard().objective(Objective.parse("p99=2s"));
            assertEquals(503, get("/", null).statusCode());
            assertEquals("p99=2000ms", figures().getObjective());
            server.protocol().guard().mode(Mode.OBSERVE);
            assertEquals(200, get("/", null).statusCode());
            long asked = figures().getRequests();
            server.protocol().guard().mode(Mode.OFF);
            assertEquals(200, get("/", null).statusCode());
            assertEquals(asked, figures().getRequests(), "off looks at nobody");
            TestServer.until("it says so", () -> figures().getMode().equals("off"));
            server.protocol().guard().mode(Mode.ENFORCE);
            assertEquals(503, get("/", null).statusCode());
        }
        assertNull(server.protocol().streamGuard());
    }

    @Test
    void a_stream_that_is_answered_later_is_seen_to_the_end() throws Exception {
        try (server) {
            assertEquals("hello later", get("/later", "mine").body());
            TestServer.until("its session is known", () -> figures().getNewSessions() == 1);
            InsideForTest.makeBusy(server.protocol().streamGuard());
            assertEquals("hello later", get("/later", "mine").body());
            assertEquals(503, get("/later", null).statusCode());
            TestServer.until("all is over", () -> figures().getEventsUnderWay() == 0);
            assertEquals(0, figures().getErrors());
        }
    }
}
