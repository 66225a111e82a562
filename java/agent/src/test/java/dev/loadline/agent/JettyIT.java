package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server level in Jetty 12, by probes; run on 12.0 and on the newest (jetty.run). */
class JettyIT {
    private static void drain() throws InterruptedException {
        Thread.sleep(200); // the server sees the client's close
    }

    @ParameterizedTest
    @CsvSource({"REDEFINE, TLSv1.3", "START, TLSv1.2", "START, TLSv1.3"})
    void handshakes_are_told_apart_and_requests_nest(Way way, String tls) throws Exception {
        try (Target target = WebTarget.start(JettyWeb.class, tls, way.options()); TestRecorder recorder = way.recorder()) {
            TwoClients told = TwoClients.visit(target, recorder, "200 /hello?x=1", "200 /hello", "404 /nothing");
            assertTrue(told.spool.info.contains("\"server\": \"Jetty " + System.getProperty("jetty.run")), told.spool.info);
            for (Story story : List.of(told.full, told.resumed)) {
                assertTrue(story.count(Type.QUEUED) > 0, "the selector found something to read");
            }
            Story first = told.full;
            String request = "43 38 41 42 39 40"; // parsed, request, service, its end, status, request's end
            String of = first.types(Type.REQUEST_PARSE, Type.REQUEST, Type.SERVICE_BEGIN, Type.SERVICE_END, Type.STATUS,
                    Type.REQUEST_END);
            assertTrue(of.startsWith(request + " " + request + " 43 38"), of);
            assertEquals(List.of("GET /hello", "GET /hello", "GET /nothing"), first.texts(Type.REQUEST));
            assertEquals("hello", first.first(Type.SERVICE_BEGIN).c());
            assertEquals(List.of(200L, 200L, 404L), first.numbers(Type.STATUS));
        }
    }

    @Test
    void an_asynchronous_request_ends_where_its_response_is_out() throws Exception {
        Way way = Way.START;
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

    @Test
    void streams_of_http_2_are_requests_within_visits() throws Exception {
        Way way = Way.START;
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

    @Test
    void virtual_threads_visit_under_their_own_ids() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads came with Java 21");
        List<String> options = new ArrayList<>(List.of(Way.START.options()));
        options.add("-Dweb.virtual=true");
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", options.toArray(String[]::new)); TestRecorder recorder = Way.START.recorder()) {
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
