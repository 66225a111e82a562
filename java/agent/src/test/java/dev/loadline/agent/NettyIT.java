package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.NettyWeb;
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
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server level in Netty, by probes. */
class NettyIT {
    @ParameterizedTest
    @CsvSource({"REDEFINE, TLSv1.3", "START, TLSv1.2"})
    void requests_last_until_their_response_is_out_whoever_answers(Way way, String tls) throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, tls, way.options()); TestRecorder recorder = way.recorder()) {
            TwoClients told = TwoClients.visit(target, recorder, "200 /hello?x=1", "202 /later", "200 /parts", "404 /nothing");
            assertTrue(told.spool.info.contains("\"server\": \"Netty 4."), told.spool.info);
            Story first = told.full;
            String request = "38 39 40"; // request, status, its end
            assertEquals(String.join(" ", request, request, request, request),
                    first.types(Type.REQUEST, Type.STATUS, Type.REQUEST_END));
            assertEquals(List.of("GET /hello", "GET /later", "GET /parts", "GET /nothing"), first.texts(Type.REQUEST));
            assertEquals(List.of(200L, 202L, 200L, 404L), first.numbers(Type.STATUS));
            Event later = first.events.stream().filter(e -> "GET /later".equals(e.c())).findFirst().orElseThrow();
            Event end = first.events.stream().filter(e -> e.type() == Type.REQUEST_END && e.ts() > later.ts()).findFirst()
                    .orElseThrow();
            assertTrue(end.ts() - later.ts() >= 50_000_000, "over when the other thread has answered");
        }
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"REDEFINE", "START"})
    void each_stream_of_http_2_is_a_request(Way way) throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            HttpClient client = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            get(client, port, "/hello"); // its classes are there
            recorder.record(target.pid());
            for (String path : List.of("/hello?x=1", "/later", "/parts", "/nothing")) {
                get(client, port, path);
            }
            Thread.sleep(200); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of("GET /hello", "GET /later", "GET /parts", "GET /nothing"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(List.of(200L, 202L, 200L, 404L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            assertEquals(4, spool.of(Type.REQUEST_END).size());
            assertEquals(4, spool.of(Type.CONN_CLOSE).size(), "each a connection of its own");
            Event later = spool.of(Type.REQUEST).get(1);
            assertTrue(spool.of(Type.REQUEST_END).get(1).ts() - later.ts() >= 50_000_000, "over when the other thread has answered");
        }
    }

    private static void get(HttpClient client, int port, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path)).build();
        assertEquals(HttpClient.Version.HTTP_2, client.send(request, HttpResponse.BodyHandlers.discarding()).version());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/quarkus", "/reactor"})
    void what_a_framework_gives_to_its_pool_is_a_visit_there(String path) throws Exception {
        Way way = Way.START;
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, client.get(path));
            Thread.sleep(100); // its thread is done with it
            client.close();
            Thread.sleep(200);
            Story story = Story.of(recorder.stop(), client);
            Event request = story.first(Type.REQUEST);
            Event end = story.first(Type.REQUEST_END);
            List<Event> pool = story.events.stream()
                    .filter(e -> e.tid() != request.tid() && (e.type() == Type.VISIT_BEGIN || e.type() == Type.VISIT_END)).toList();
            assertEquals(2, pool.size(), story.events.toString());
            assertEquals(1, pool.get(0).b(), "it goes on with what the event loop began");
            assertTrue(pool.get(0).ts() > request.ts() && pool.get(0).ts() < end.ts() && pool.get(1).ts() > end.ts());
        }
    }
}
