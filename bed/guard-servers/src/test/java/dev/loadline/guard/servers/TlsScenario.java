package dev.loadline.guard.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.BusyForTest;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardMXBean;
import dev.loadline.guard.Mode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocket;

/** A server that speaks TLS and guards connections: who is told apart, and what a crowd does to those who are there. */
final class TlsScenario {
    /** One new connection takes all there is for some minutes. */
    private static final String NO_ROOM = "cpus=1; fullCost=80000s; resumedCost=1us; helloTimeout=300ms";
    private static final int VISITORS = 4;
    private static final int CROWD = 24;
    private static final String PAGE = "/burn?ms=10";
    /** Clients are in the same process: most of what a visit takes is to be the server's. */
    private static final String DEAR = "/burn?ms=30";
    private static final int VISITS = 60;
    private static final int STREAMS = 20;

    /** Begins to serve. */
    interface Start {
        /** @param port 0: any */
        ShopServer at(int port, String options) throws Exception;
    }

    private interface Visit {
        void go() throws IOException, InterruptedException;
    }

    private final ShopServer server;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Double> millis = Collections.synchronizedList(new ArrayList<>());
    private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger number = new AtomicInteger();
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private volatile boolean measured;
    private volatile boolean stop;

    private TlsScenario(ShopServer server) {
        this.server = server;
    }

    private static Visitor stranger(ShopServer server) {
        return new Visitor(server.port(), Tls.ofClient());
    }

    /**
     * Known, new, back with a ticket that is not known any more, a probe, slow, no TLS.
     *
     * @param closesSlow whether the guard can close a connection that says nothing
     */
    static void lanes(Start start, boolean closesSlow) throws Exception {
        Visitor back;
        int port;
        try (var server = start.at(0, "")) {
            port = server.port();
            back = stranger(server).from("127.0.0.4");
            assertEquals(200, back.get("/").status());
            assertEquals(200, back.get("/").status());
            assertEquals(1, server.guard().figures().getResumedHandshakes());
        }
        try (var server = start.at(port, NO_ROOM)) {
            GuardMXBean figures = server.guard().figures();
            BusyForTest.makeBusy(server.guard());
            var known = stranger(server).halting();
            assertEquals(200, known.get("/health/ready").status());
            assertEquals(503, stranger(server).from("127.0.0.2").get("/").status(), "it had its try, as a probe might");
            assertThrows(IOException.class, () -> stranger(server).from("127.0.0.2").get("/"));
            assertThrows(IOException.class, () -> stranger(server).from("127.0.0.2").halting().get("/"));
            assertEquals(200, known.get("/").status());
            assertEquals(200, known.get("/").status());
            assertThrows(IOException.class, () -> back.get("/"));
            assertEquals(2, figures.getFullHandshakes());
            assertEquals(2, figures.getResumedHandshakes());
            assertEquals(1, figures.getRefusedBadClaims());
            assertEquals(3, figures.getRefusedNew());
            probes(server);
            unheard(server, closesSlow);
            Scenario.until("all are gone", () -> figures.getOpenConnections() == 0 && figures.getEventsUnderWay() == 0);
            assertEquals(0, figures.getErrors());
            server.guard().mode(Mode.OFF);
            assertEquals(200, stranger(server).from("127.0.0.2").get("/").status());
        }
    }

    /** All come through one proxy: what the guard knows of addresses it knows of those that the proxy names. */
    static void behindProxy(Start start) throws Exception {
        try (var server = start.at(0, NO_ROOM)) {
            BusyForTest.makeBusy(server.guard());
            assertEquals(200, stranger(server).behindProxy("203.0.113.6").get("/health/ready").status());
            assertEquals(503, stranger(server).behindProxy("203.0.113.5").get("/").status(), "it had its try, as a probe might");
            assertThrows(IOException.class, () -> stranger(server).behindProxy("203.0.113.5").get("/health/ready"));
            assertEquals(200, stranger(server).behindProxy("203.0.113.6").get("/health/ready").status(), "its neighbour's fault is not its own");
            assertEquals(0, server.guard().figures().getErrors());
        }
    }

    /** Streams of HTTP/2 on one connection, which the guard of connections lets in: of a session that is there, and of others. */
    static void streams(Start start) throws Exception {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(Tls.ofClient()).build();
        try (var server = start.at(0, "cpus=1; fullCost=80000s; resumedCost=1us; retryAfter=7s")) {
            assertEquals(200, stream(client, server, "/health/ready", null).join().statusCode());
            Guard guard = server.streamGuard();
            GuardMXBean figures = guard.figures();
            BusyForTest.makeBusy(guard);
            assertEquals(200, stream(client, server, "/", "mine").join().statusCode());
            Scenario.until("its session is known", () -> figures.getNewSessions() == 1);
            List<CompletableFuture<HttpResponse<String>>> theirs = new ArrayList<>();
            List<CompletableFuture<HttpResponse<String>>> others = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                theirs.add(stream(client, server, "/", "mine"));
                others.add(stream(client, server, "/", i % 2 == 0 ? null : "forged" + i));
            }
            for (var one : theirs) {
                assertEquals(200, one.join().statusCode());
            }
            for (var one : others) {
                assertEquals(503, one.join().statusCode());
                assertEquals("7", one.join().headers().firstValue("Retry-After").orElse(""));
            }
            assertEquals(200, stream(client, server, "/health/ready", null).join().statusCode());
            assertEquals(1, server.guard().figures().getConnections(), "all of that on one connection");
            assertEquals(STREAMS, figures.getRefusedNew());
            assertEquals(0, server.guard().figures().getRefusedNew());
            server.guard().mode(Mode.OBSERVE);
            assertEquals(200, stream(client, server, "/", null).join().statusCode());
            long asked = figures.getRequests();
            server.guard().mode(Mode.OFF);
            assertEquals(200, stream(client, server, "/", null).join().statusCode());
            assertEquals(asked, figures.getRequests(), "off looks at nobody");
            Scenario.until("all is over", () -> figures.getEventsUnderWay() == 0 && server.guard().figures().getEventsUnderWay() == 0);
            assertEquals(0, figures.getErrors() + server.guard().figures().getErrors());
        }
    }

    private static CompletableFuture<HttpResponse<String>> stream(HttpClient client, ShopServer server, String path, String session) {
        var request = HttpRequest.newBuilder(URI.create("https://localhost:" + server.port() + path));
        if (session != null) {
            request.header("Cookie", "JSESSIONID=" + session);
        }
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()).thenApply(reply -> {
            assertEquals(HttpClient.Version.HTTP_2, reply.version());
            return reply;
        });
    }

    /** Its address asked for a health path when there was room. */
    private static void probes(ShopServer server) throws Exception {
        assertEquals(200, stranger(server).get("/health/live").status());
        Visitor.Reply other = stranger(server).get("/");
        assertEquals(503, other.status(), other.text());
        assertNotNull(other.header("Retry-After"));
        assertThrows(IOException.class, () -> stranger(server).get("/health/live"), "it has lost its slot");
        assertEquals(3, server.guard().figures().getProbes());
    }

    private static void unheard(ShopServer server, boolean closesSlow) throws Exception {
        if (closesSlow) {
            slow(server);
        }
        try (var other = new Socket("127.0.0.1", server.port())) {
            other.setSoTimeout(5_000);
            other.getOutputStream().write(new byte[] {0, 1, 2, 3, 4, 5, 6, 7});
            assertEquals(-1, other.getInputStream().read());
        }
        Scenario.until("it counts", () -> server.guard().figures().getRefusedNotTls() == 1);
    }

    private static void slow(ShopServer server) throws Exception {
        try (var slow = new Socket("127.0.0.1", server.port())) {
            slow.setSoTimeout(5_000);
            slow.getOutputStream().write(new byte[] {22, 3, 1});
            assertEquals(-1, slow.getInputStream().read());
        }
        Scenario.until("it counts", () -> server.guard().figures().getRefusedSlowHellos() == 1);
    }

    /** What the server and a client that offers both agree on. */
    static String negotiated(ShopServer server, String from) throws IOException {
        try (SSLSocket socket = Tls.connect(Tls.ofClient(), InetAddress.getByName(from), server.port(), false)) {
            var parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            return socket.getApplicationProtocol();
        }
    }

    /** Many new sessions while threads are said to wait for too long, beside a few visitors who are there: none of them is refused, nor a probe. */
    static void crowd(Start start) throws Exception {
        try (var server = start.at(0, "")) {
            new TlsScenario(server).run();
        }
    }

    private void run() throws Exception {
        GuardMXBean figures = server.guard().figures();
        try {
            assertEquals(200, prober().get("/health/ready").status());
            List<Visitor> visitors = new ArrayList<>();
            for (int i = 0; i < VISITORS; i++) {
                visitors.add(stranger(server));
            }
            for (int round = 0; round < 15; round++) {
                for (Visitor visitor : visitors) {
                    assertEquals(200, visitor.get(PAGE).status());
                }
            }
            assertEquals(0, figures.getRefusedNew());
            assertEquals(VISITORS + 1, figures.getFullHandshakes());
            BusyForTest.makeBusy(server.guard());
            visitors.forEach(visitor -> begin(() -> {
                Visitor.Reply reply = visitor.get(PAGE);
                if (reply.status() != 200) {
                    wrong.add("a visitor was answered " + reply.status());
                }
                if (measured) {
                    millis.add(reply.millis());
                }
                Thread.sleep(30);
            }));
            for (int i = 0; i < CROWD; i++) {
                SSLContext own = Tls.ofClient();
                begin(() -> comeNew(own));
            }
            begin(() -> {
                int status = prober().get("/health/ready").status();
                if (status != 200) {
                    wrong.add("a probe was answered " + status);
                }
                Thread.sleep(500);
            });
            Scenario.until("it refuses", () -> figures.getRefusedNew() > 20);
            Thread.sleep(500);
            double p95 = window();
            Scenario.until("some of the crowd are served", () -> served.get() > 10); // how long it takes is the machine's speed
            report(p95);
        } finally {
            stop = true;
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertEquals(0, figures.getErrors());
        Scenario.until("all is over", () -> figures.getEventsUnderWay() == 0 && figures.getHandshakesWaiting() == 0 && figures.getOpenConnections() == 0);
    }

    /** Each of its probes is a new connection. */
    private Visitor prober() throws IOException {
        return stranger(server).from("127.0.0.3");
    }

    /** Nobody is known by it any more when it has been here: a context of its own would take more than its handshake. */
    private void comeNew(SSLContext tls) throws InterruptedException {
        try {
            SSLSessionContext known = tls.getClientSessionContext();
            Collections.list(known.getIds()).stream().map(known::getSession).filter(Objects::nonNull).forEach(SSLSession::invalidate);
            int n = number.incrementAndGet();
            int status = new Visitor(server.port(), tls).from("127.1." + (n >> 8 & 255) + "." + (n & 255)).get(DEAR).status();
            if (status == 200) {
                served.incrementAndGet();
            } else if (status != 503) { // the try of an address that might be a prober's
                wrong.add("one of the crowd was answered " + status);
            }
        } catch (IOException e) {
            refused.incrementAndGet();
            Thread.sleep(60);
        }
    }

    private void begin(Visit visit) {
        var thread = new Thread(() -> {
            while (!stop) {
                try {
                    visit.go();
                } catch (IOException | InterruptedException e) {
                    wrong.add(e.toString());
                    return;
                }
            }
        });
        threads.add(thread);
        thread.start();
    }

    private double window() throws InterruptedException {
        millis.clear();
        measured = true;
        Scenario.until("enough visits", () -> millis.size() >= VISITS);
        measured = false;
        List<Double> sorted = new ArrayList<>(millis);
        Collections.sort(sorted);
        return sorted.get((int) (0.95 * (sorted.size() - 1)));
    }

    /** How long visitors wait is told, not asserted: those who come compute their half of each handshake on the same CPUs. */
    private void report(double p95) {
        GuardMXBean figures = server.guard().figures();
        String found = String.format("visitors %d, p95 %.0f ms; new served %d, refused %d; full handshakes %d, resumed %d, probes %d; delay %.0f of %.0f ms",
            millis.size(), p95, served.get(), refused.get(), figures.getFullHandshakes(), figures.getResumedHandshakes(), figures.getProbes(),
            figures.getDelayMillis(), figures.getTargetDelayMillis());
        System.out.println(server.getClass().getSimpleName() + ", TLS: " + found);
        assertEquals(List.of(), wrong, found);
        assertTrue(refused.get() > 10, found);
        assertTrue(figures.getResumedHandshakes() > 60, found);
    }
}
