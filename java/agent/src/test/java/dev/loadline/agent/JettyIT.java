package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.JettyWeb;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Story;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.TwoClients;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The server level in Jetty 12, by probes; run on 12.0 and on the newest (jetty.run). */
@Tag("each-jetty")
class JettyIT {
    private static void drain() throws InterruptedException {
        Thread.sleep(200); // the server sees the client's close
    }

    @ParameterizedTest
    @CsvSource({"REDEFINE, TLSv1.3", "START, TLSv1.2", "START, TLSv1.3", "HOOKS, TLSv1.2", "HOOKS, TLSv1.3"})
    void handshakes_are_told_apart_and_requests_nest(Way way, String tls) throws Exception {
        try (Target target = WebTarget.start(JettyWeb.class, tls, way.options()); TestRecorder recorder = way.recorder()) {
            TwoClients told = TwoClients.visit(target, recorder, "200 /hello?x=1", "200 /hello", "404 /nothing");
            assertTrue(told.spool.info.contains("\"server\": \"Jetty " + System.getProperty("jetty.run")), told.spool.info);
            Story first = told.full;
            String request = "38 41 42 39 40"; // request, service, its end, status, request's end
            String parsed = way == Way.HOOKS ? "" : "43 ";
            String of = first.types(Type.REQUEST_PARSE, Type.REQUEST, Type.SERVICE_BEGIN, Type.SERVICE_END, Type.STATUS,
                    Type.REQUEST_END);
            assertTrue(of.startsWith(parsed + request + " " + parsed + request + " " + parsed + "38"), of);
            if (way == Way.HOOKS) {
                assertTrue(told.spool.info.contains("\"server_by\": \"hooks\""), told.spool.info);
            } else {
                for (Story story : List.of(told.full, told.resumed)) {
                    assertTrue(story.count(Type.QUEUED) > 0, "the selector found something to read");
                }
            }
            assertEquals(List.of("GET /hello", "GET /hello", "GET /nothing"), first.texts(Type.REQUEST));
            assertEquals("hello", first.first(Type.SERVICE_BEGIN).c());
            assertEquals(List.of(200L, 200L, 404L), first.numbers(Type.STATUS));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "HOOKS"})
    void an_asynchronous_request_ends_where_its_response_is_out(Way way) throws Exception {
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(202, client.get("/later"));
            assertEquals(200, client.get("/hello"));
            client.close();
            drain();
            Story story = Story.of(recorder.stop(), client);
            assertEquals(2, story.count(Type.REQUEST));
            assertEquals(2, story.count(Type.REQUEST_END), "each in a visit");
            Event request = story.first(Type.REQUEST);
            Event end = story.first(Type.REQUEST_END);
            assertTrue(end.ts() - request.ts() >= 50_000_000, "over when the other thread has answered");
            assertEquals(List.of(202L, 200L), story.numbers(Type.STATUS));
        }
    }

    @Test
    void an_asynchronous_request_goes_on_in_the_executor_that_it_is_given_to() throws Exception {
        Way way = Way.START;
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            ExecutorVisits.assertVisited(recorder, port);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "HOOKS"})
    void streams_of_http_2_are_requests_within_visits(Way way) throws Exception {
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
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
            assertEquals(3, Story.of(spool).get(0).count(Type.REQUEST), "each in a visit");
            assertEquals(3, Story.of(spool).get(0).count(Type.REQUEST_END), "each in a visit");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "HOOKS"})
    void what_waits_for_a_thread_is_queued(Way way) throws Exception {
        List<String> options = new ArrayList<>(List.of(way.options()));
        options.add("-Dweb.threads=5");
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", options.toArray(String[]::new)); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            List<HttpsClient> clients = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
                assertEquals(200, client.get("/hello"));
                clients.add(client);
            }
            ExecutorService visitors = Executors.newFixedThreadPool(clients.size());
            List<Callable<Integer>> visits = clients.stream().<Callable<Integer>>map(client -> () -> client.get("/blocks")).toList();
            for (Future<Integer> visit : visitors.invokeAll(visits)) {
                assertEquals(200, visit.get());
            }
            visitors.shutdown();
            for (HttpsClient client : clients) {
                client.close();
            }
            drain();
            Spool spool = recorder.stop();
            List<Event> requests = spool.of(Type.REQUEST).stream().filter(e -> e.c().equals("GET /blocks")).toList();
            assertEquals(12, requests.size());
            long waited = requests.stream().filter(request -> queuedFor(spool, request) > 50_000_000).count();
            assertTrue(waited > 0, "twelve requests of 100 ms, and fewer threads");
        }
    }

    /** How long before a request its connection was queued for a thread, for the last time; 0 if it was not. */
    private static long queuedFor(Spool spool, Event request) {
        Event visit = spool.of(Type.VISIT_BEGIN).stream().filter(e -> e.tid() == request.tid() && e.ts() <= request.ts()).reduce((x, y) -> y).orElseThrow();
        return spool.of(Type.QUEUED).stream().filter(e -> e.a() == visit.a() && e.ts() <= visit.ts()).reduce((x, y) -> y)
                .map(e -> visit.ts() - e.ts()).orElse(0L);
    }

    /** A server that was there before the recording, with a connection, is as it was afterwards, and can be recorded again. */
    @Test
    void hooks_leave_nothing_behind() throws Exception {
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3")) {
            int port = Integer.parseInt(target.tell("start"));
            HttpsClient before = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, before.get("/hello"));
            String unhooked = target.tell("parts");
            for (int round = 0; round < 2; round++) {
                HttpsClient during = new HttpsClient(HttpsClient.newContext(), port);
                try (TestRecorder recorder = Way.HOOKS.recorder()) {
                    recorder.record(target.pid());
                    assertNotEquals(unhooked, target.tell("parts"));
                    assertEquals(200, before.get("/hello"));
                    assertEquals(200, during.get("/hello"));
                    drain();
                    Spool spool = recorder.stop();
                    assertEquals(List.of("GET /hello", "GET /hello"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
                    assertEquals(2, spool.of(Type.REQUEST_END).size());
                }
                assertEquals(unhooked, target.tell("parts"));
                assertEquals(200, during.get("/hello"), "one that began while hooks were in serves on");
                during.close();
                drain();
            }
            assertEquals(200, before.get("/hello"));
            before.close();
        }
    }

    /** The story of each connection that is heard of begins with its opening, or {@link Story} fails. */
    @Test
    void connections_of_jettys_client_are_none_of_the_servers() throws Exception {
        Way way = Way.START;
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, client.get("/calls"));
            client.close();
            drain();
            Spool spool = recorder.stop();
            assertEquals(2, Story.of(spool).size(), "the client's, and that to itself");
            assertEquals(List.of("GET /calls", "GET /hello"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "HOOKS"})
    void virtual_threads_visit_under_their_own_ids(Way way) throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads came with Java 21");
        List<String> options = new ArrayList<>(List.of(way.options()));
        options.add("-Dweb.virtual=true");
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", options.toArray(String[]::new)); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            client.get("/hello"); // the first after ALPN is a platform thread's
            client.get("/hello");
            client.close();
            drain();
            Story story = Story.of(recorder.stop(), client);
            List<Event> requests = story.events.stream().filter(e -> e.type() == Type.REQUEST).toList();
            assertEquals(2, requests.size());
            assertTrue(requests.get(1).virtual() != 0, story.events.toString());
        }
    }
}
