package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Story;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.TwoClients;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server level in Tomcat 10.1 and 11, with HikariCP and H2; and in Tomcat 9. */
class TomcatIT {
    /** What a handshake's end says where nobody knows whether it resumed a session. */
    private static final long UNKNOWN = 3;

    private static void drain() throws InterruptedException {
        Thread.sleep(200); // the server sees the client's close
    }

    @ParameterizedTest
    @CsvSource({
        "REDEFINE, 10, Nio, TLSv1.2", "START, 10, Nio2, TLSv1.3", "START, 11, Nio, TLSv1.3",
        "REDEFINE, 11, Nio2, TLSv1.2", "HOOKS, 10, Nio, TLSv1.3", "HOOKS, 11, Nio, TLSv1.2",
        "HOOKS, 11, Nio, TLSv1.3", "HOOKS, 10, Nio, TLSv1.2"
    })
    void handshakes_are_told_apart_and_requests_nest(Way way, int version, String protocol, String tls)
            throws Exception {
        try (Target target = WebTarget.start(version, protocol, tls, way.options()); TestRecorder recorder = way.recorder()) {
            TwoClients told = TwoClients.visit(target, recorder, "200 /hello?x=1", "200 /items", "404 /nothing");
            String info = told.spool.info;
            assertTrue(info.contains("Apache Tomcat/" + version), info);
            assertTrue(info.contains(way == Way.HOOKS
                    ? "\"server_by\": \"hooks\", \"unseen\": [\"sql\", \"calls\", \"pools\"]" : "\"server_by\": \"probes\""), info);
            Story first = told.full;
            String request = "38 41 42 39 40"; // request, service, its end, status, request's end
            assertEquals(request + " " + request + " 38 39 40", first.types(
                    Type.REQUEST, Type.SERVICE_BEGIN, Type.SERVICE_END, Type.STATUS, Type.REQUEST_END));
            assertEquals(List.of("GET /hello", "GET /items", "GET /nothing"), first.texts(Type.REQUEST));
            assertEquals(List.of(200L, 200L, 404L), first.numbers(Type.STATUS));
            pool(first);
            if (way != Way.HOOKS) {
                assertTrue(first.count(Type.REQUEST_PARSE) >= 3);
                assertTrue(first.types(Type.REQUEST_PARSE, Type.REQUEST).startsWith("43"), "parsed before it is served");
                statements(first);
            }
        }
    }

    /** Nothing leads to one of NIO2's, but its requests pass where hooks of another are. */
    @ParameterizedTest
    @ValueSource(ints = {10, 11})
    void of_a_connector_without_hooks_beside_one_with_them_requests_are_told(int version) throws Exception {
        try (Target target = WebTarget.start(version, "Nio2", "TLSv1.3"); TestRecorder recorder = TestRecorder.prepare()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, client.get("/hello"));
            assertEquals(404, client.get("/nothing"));
            client.close();
            Spool spool = recorder.stop();
            List<Event> requests = spool.events.stream().filter(e -> e.type() == Type.REQUEST).toList();
            assertEquals(List.of("GET /hello", "GET /nothing"), requests.stream().map(Event::c).toList());
            assertEquals(0, spool.of(Type.CONN_OPEN).size());
            assertTrue(spool.info.contains("\"tomcat-connectors\""), spool.info);
        }
    }

    /** Whether it resumed a session shows by whether that is older than the connection: of one that was there before, nobody knows. */
    @ParameterizedTest
    @ValueSource(ints = {10, 11})
    void handshakes_on_connections_of_before_and_failed_ones_are_told_as_such(int version) throws Exception {
        try (Target target = WebTarget.start(version, "Nio", "TLSv1.3"); TestRecorder recorder = Way.HOOKS.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            Socket before = new Socket("127.0.0.1", port);
            recorder.record(target.pid());
            try (HttpsClient client = new HttpsClient(HttpsClient.newContext(), before); Socket noTls = new Socket("127.0.0.1", port)) {
                assertEquals(200, client.get("/hello"));
                noTls.getOutputStream().write("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                while (noTls.getInputStream().read() >= 0) {
                    continue; // until the server closes it
                }
            }
            drain();
            Spool spool = recorder.stop();
            assertEquals(List.of("GET /hello"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            // By result: what went well, what failed; a connection of before has no story of its own.
            assertEquals(List.of(UNKNOWN), spool.where(e -> e.type() == Type.TLS_EXIT && e.b() == 0).stream().map(Event::a).toList());
            assertEquals(1, spool.where(e -> e.type() == Type.TLS_EXIT && e.b() < 0).size());
        }
    }

    /** Tomcat asks them for their class, and they say to nobody whether they resumed a session. */
    @ParameterizedTest
    @CsvSource({"START, TLSv1.3", "HOOKS, TLSv1.2", "HOOKS, TLSv1.3"})
    void handshakes_of_openssl_are_told_and_their_kind_is_not(Way way, String tls) throws Exception {
        assumeTrue(Runtime.version().feature() >= 22, "Tomcat calls OpenSSL without a library of its own from Java 22 on");
        List<String> options = new ArrayList<>(List.of(way.options()));
        options.add("--enable-native-access=ALL-UNNAMED");
        options.add("-Dweb.engines=org.apache.tomcat.util.net.openssl.panama.OpenSSLImplementation");
        try (Target target = WebTarget.start(10, "Nio", tls, options.toArray(String[]::new)); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            TwoClients told = TwoClients.anyhow(port, target, recorder, "200 /hello?x=1", "200 /items");
            assertEquals(List.of("unknown", "unknown"), List.of(told.full.handshake(), told.resumed.handshake()));
            assertEquals(List.of("GET /hello", "GET /items"), told.full.texts(Type.REQUEST));
            assertEquals(List.of("GET /hello"), told.resumed.texts(Type.REQUEST));
            assertEquals(way == Way.HOOKS, told.spool.info.contains("\"openssl\""), told.spool.info);
        }
    }

    /** The request that used the database had a connection of the pool's. */
    private static void pool(Story story) {
        List<Event> waits = story.events.stream().filter(e -> e.type() == Type.POOL_WAIT_BEGIN).toList();
        assertEquals(List.of("shop"), waits.stream().map(Event::c).toList());
        Event got = story.events.stream().filter(e -> e.type() == Type.POOL_WAIT_END).findFirst().orElseThrow();
        assertTrue(got.a() != 0);
        assertTrue(story.events.stream().anyMatch(e -> e.type() == Type.POOL_RELEASE && e.a() == got.a()));
    }

    /** Once each, though proxies, their superclasses and the driver have probes. */
    private static void statements(Story story) {
        List<String> begun = story.events.stream().filter(e -> e.type() == Type.SQL_BEGIN).map(Event::c).toList();
        assertEquals(List.of("SELECT name FROM item WHERE id IN (?\u2026)", "UPDATE item SET name = ? WHERE id = ?"), begun);
        assertEquals(2, story.count(Type.SQL_END));
    }

    @ParameterizedTest
    @CsvSource({"REDEFINE, 10", "START, 11", "HOOKS, 10", "HOOKS, 11"})
    void an_asynchronous_request_ends_in_a_later_visit(Way way, int version) throws Exception {
        try (Target target = WebTarget.start(version, "Nio", "TLSv1.3", way.options());
                TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(202, client.get("/later"));
            assertEquals(200, client.get("/hello"));
            client.close();
            drain();
            Story story = Story.of(recorder.stop(), client);
            assertEquals(2, story.count(Type.REQUEST));
            assertEquals(2, story.count(Type.REQUEST_END));
            List<Event> events = story.events;
            Event request = events.stream().filter(e -> e.type() == Type.REQUEST).findFirst().orElseThrow();
            Event end = events.stream().filter(e -> e.type() == Type.REQUEST_END).findFirst().orElseThrow();
            assertTrue(end.ts() - request.ts() >= 50_000_000, "over when the other thread has answered");
            assertTrue(events.stream().anyMatch(
                    e -> e.type() == Type.VISIT_BEGIN && e.ts() > request.ts() && e.ts() < end.ts()));
            Event last = events.stream().filter(e -> e.type() == Type.STATUS && e.ts() < end.ts())
                    .reduce((x, y) -> y).orElseThrow();
            assertEquals(202, last.b());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 11})
    void an_asynchronous_request_goes_on_in_the_executor_that_it_is_given_to(int version) throws Exception {
        Way way = Way.START;
        try (Target target = WebTarget.start(version, "Nio", "TLSv1.3", way.options());
                TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            ExecutorVisits.assertVisited(recorder, port);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "HOOKS"})
    void of_where_workers_wait_for_work_there_is_no_stack(Way way) throws Exception {
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3", way.options());
                TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            for (int i = 0; i < 25; i++) { // ten workers take turns
                assertEquals(200, client.get("/hello"));
                Thread.sleep(15);
            }
            assertEquals(202, client.get("/pooled"));
            client.close();
            drain();
            Spool spool = recorder.stop();
            Set<Integer> served = new HashSet<>();
            int idle = 0;
            int atWork = 0;
            for (Event e : spool.where(e -> e.type() == Type.VISIT_END || e.type() == Type.UNPARKED)) {
                if (e.type() == Type.VISIT_END) {
                    served.add(e.tid());
                } else if (served.contains(e.tid())) {
                    List<String> stack = spool.stack(e);
                    boolean waited = stack.stream().anyMatch(f -> f.contains("Pooled.doGet"));
                    assertTrue(stack.isEmpty() || waited, stack::toString);
                    atWork += waited ? 1 : 0;
                    idle += waited ? 0 : 1;
                }
            }
            assertEquals(1, atWork, "in the midst of a request its code is told");
            assertTrue(idle >= 10, idle + " waits for work");
        }
    }

    @ParameterizedTest
    @CsvSource({"START, 11", "HOOKS, 10", "HOOKS, 11"})
    void a_request_that_is_dispatched_again_is_one_request(Way way, int version) throws Exception {
        try (Target target = WebTarget.start(version, "Nio", "TLSv1.3", way.options());
                TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, client.get("/again"));
            assertEquals(200, client.get("/hello"));
            client.close();
            drain();
            Story story = Story.of(recorder.stop(), client);
            assertEquals(2, story.count(Type.REQUEST));
            assertEquals(2, story.count(Type.REQUEST_END));
            assertEquals(story.count(Type.SERVICE_BEGIN), story.count(Type.SERVICE_END));
        }
    }

    @ParameterizedTest
    @CsvSource({"REDEFINE, 10", "START, 11", "HOOKS, 10", "HOOKS, 11"})
    void streams_of_http_2_are_requests_within_visits(Way way, int version) throws Exception {
        try (Target target = WebTarget.start(version, "Nio", "TLSv1.3", way.options());
                TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpClient client = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            for (String path : List.of("/hello?q", "/later", "/hello")) {
                HttpRequest request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path)).build();
                HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
                assertEquals(HttpClient.Version.HTTP_2, response.version());
            }
            drain();
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of("GET /hello", "GET /later", "GET /hello"),
                    spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(3, spool.of(Type.REQUEST_END).size());
            assertEquals(3, Story.of(spool).get(0).count(Type.REQUEST), "each in a visit");
            assertEquals(3, Story.of(spool).get(0).count(Type.REQUEST_END), "each in a visit");
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void a_server_that_starts_later_is_seen_too(Way way) throws Exception {
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            recorder.record(target.pid());
            int port = Integer.parseInt(target.tell("start"));
            Thread.sleep(1_200); // the agent looks for servers, and for their names, twice a second
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            client.get("/items");
            client.close();
            drain();
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertTrue(spool.info.contains("Apache Tomcat/11"), spool.info);
            pool(Story.of(spool, client));
            if (way != Way.HOOKS) {
                statements(Story.of(spool, client));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void a_tomcat_of_java_ee_is_seen_too(Way way) throws Exception {
        try (Target target = WebTarget.beforeJakarta(way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpClient client = HttpClient.newHttpClient();
            for (String path : List.of("/hello?x", "/nothing")) {
                client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
                        HttpResponse.BodyHandlers.discarding());
            }
            drain();
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertTrue(spool.info.contains("Apache Tomcat/9.0"), spool.info);
            assertEquals(List.of("GET /hello", "GET /nothing"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(List.of(200L, 404L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            assertEquals(2, Story.of(spool).get(0).count(Type.REQUEST_END), "each in a visit");
            assertEquals("files", spool.of(Type.SERVICE_BEGIN).get(0).c());
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void virtual_threads_visit_under_their_own_ids(Way way) throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads came with Java 21");
        List<String> options = new ArrayList<>(List.of(way.options()));
        options.add("-Dweb.virtual=true");
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3", options.toArray(String[]::new));
                TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            client.get("/hello");
            client.get("/items");
            client.close();
            drain();
            Story story = Story.of(recorder.stop(), client);
            assertEquals(2, story.count(Type.REQUEST));
            assertTrue(story.events.stream().filter(e -> e.type() == Type.REQUEST).allMatch(e -> e.virtual() != 0));
        }
    }
}
