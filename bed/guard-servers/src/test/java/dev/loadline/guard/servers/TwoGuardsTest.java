package dev.loadline.guard.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import dev.loadline.guard.GuardMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** One Tomcat with both guards: that of its connections answers for HTTP/1.1, that of its requests for the streams of HTTP/2. */
class TwoGuardsTest {
    private static final String PAGE = "/burn?ms=10";
    /** Of each kind. More, and on a host that is slow for a moment the visitors wait for so long that they are shed, which is not what this is about. */
    private static final int CROWD = 8;

    private final List<Thread> threads = new ArrayList<>();
    private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean stop;

    private interface Visit {
        void go() throws IOException, InterruptedException;
    }

    private static HttpClient http2(boolean cookies) {
        var builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(Tls.ofClient());
        return (cookies ? builder.cookieHandler(new CookieManager()) : builder).build();
    }

    private static HttpResponse<String> ask(HttpClient client, TomcatServer server, String path) throws IOException, InterruptedException {
        var reply = client.send(HttpRequest.newBuilder(URI.create("https://localhost:" + server.port() + path)).build(), HttpResponse.BodyHandlers.ofString());
        assertEquals(HttpClient.Version.HTTP_2, reply.version());
        return reply;
    }

    @Test
    void nobody_counts_twice_and_what_sessions_cost_is_learnt_once() throws Exception {
        try (var server = TomcatServer.withBoth()) {
            GuardMXBean connections = server.ofConnections().figures();
            GuardMXBean requests = server.guard().figures();
            calm(server, connections, requests);
            try {
                load(server);
                long cpu = processCpuNanos();
                double before = spentMillis(connections, requests);
                Thread.sleep(5_000);
                double took = (processCpuNanos() - cpu) / 1e6;
                double learnt = spentMillis(connections, requests) - before;
                System.out.printf("two guards: %.0f of %.0f ms of CPU learnt; connections: %d new, %d refused; requests: %d new, %d refused%n", learnt, took,
                    connections.getFullHandshakes(), connections.getRefusedNew(), requests.getNewSessions(), requests.getRefusedNew());
                assertTrue(learnt < 1.5 * took, "of " + took + " ms that the process took the sessions are said to have taken " + learnt);
                assertTrue(learnt > 0.3 * took, "of " + took + " ms that the process took the sessions are said to have taken " + learnt);
            } finally {
                stop = true;
                for (Thread thread : threads) {
                    thread.join();
                }
            }
            assertEquals(List.of(), wrong);
            assertTrue(connections.getFullHandshakes() > 50 && requests.getNewSessions() > 50);
            assertEquals(0, connections.getErrors() + requests.getErrors());
            Scenario.until("all is over", () -> connections.getEventsUnderWay() == 0 && requests.getEventsUnderWay() == 0);
        }
    }

    private void calm(TomcatServer server, GuardMXBean connections, GuardMXBean requests) throws Exception {
        for (int i = 0; i < 3; i++) {
            var visitor = new Visitor(server.port(), Tls.ofClient());
            assertEquals(200, visitor.get(PAGE).status());
            assertEquals(200, visitor.get(PAGE).status());
        }
        assertEquals(6, connections.getRequests());
        assertEquals(3, connections.getFullHandshakes());
        assertEquals(3, connections.getResumedHandshakes());
        assertEquals(0, requests.getRequests());
        for (int i = 0; i < 2; i++) {
            HttpClient client = http2(true);
            for (int r = 0; r < 4; r++) {
                assertEquals(200, ask(client, server, PAGE).statusCode());
            }
        }
        assertEquals(6, connections.getRequests());
        assertEquals(5, connections.getFullHandshakes());
        assertEquals(8, requests.getRequests());
        Scenario.until("both have ended", () -> requests.getNewSessions() == 2);
    }

    /** New sessions of both kinds, several times what the CPUs serve, beside one visitor of each. */
    private void load(TomcatServer server) throws Exception {
        var visitor = new Visitor(server.port(), Tls.ofClient());
        assertEquals(200, visitor.get(PAGE).status());
        HttpClient streams = http2(true);
        assertEquals(200, ask(streams, server, PAGE).statusCode());
        begin(() -> visits("over HTTP/1.1", visitor.get(PAGE).status()));
        begin(() -> visits("over HTTP/2", ask(streams, server, PAGE).statusCode()));
        var number = new AtomicInteger();
        for (int i = 0; i < CROWD; i++) {
            begin(() -> {
                try {
                    int n = number.incrementAndGet();
                    new Visitor(server.port(), Tls.ofClient()).from("127.1." + (n >> 8 & 255) + "." + (n & 255)).get(PAGE);
                } catch (IOException e) {
                    Thread.sleep(60); // refused
                }
            });
            HttpClient client = http2(false);
            assertEquals(200, ask(client, server, "/health/ready").statusCode());
            begin(() -> {
                if (ask(client, server, PAGE).statusCode() == 503) {
                    Thread.sleep(60);
                }
            });
        }
    }

    private void visits(String how, int status) throws InterruptedException {
        if (status != 200) {
            wrong.add("a visitor " + how + " was answered " + status);
        }
        Thread.sleep(30);
    }

    private void begin(Visit visit) {
        var thread = new Thread(() -> {
            while (!stop) {
                try {
                    visit.go();
                } catch (IOException | InterruptedException | AssertionError e) {
                    wrong.add(e.toString());
                    return;
                }
            }
        });
        threads.add(thread);
        thread.start();
    }

    /** What all sessions until now took, by what the guards believe that one takes. */
    private static double spentMillis(GuardMXBean connections, GuardMXBean requests) {
        return connections.getFullHandshakes() * connections.getNewCostMillis() + requests.getNewSessions() * requests.getNewCostMillis();
    }

    private static long processCpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
