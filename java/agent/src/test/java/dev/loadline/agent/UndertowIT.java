package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.UndertowWeb;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Story;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The server level in Undertow, by probes. */
class UndertowIT {
    @ParameterizedTest
    @EnumSource(Way.class)
    void requests_are_told_whichever_thread_serves_them(Way way) throws Exception {
        try (Target target = Target.start(UndertowWeb.class, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            get(HttpClient.newHttpClient(), port, "/hello");
            recorder.record(target.pid());
            HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            for (String path : List.of("/hello?x=1", "/worker", "/later", "/servlet", "/nothing")) {
                get(client, port, path);
            }
            Thread.sleep(200); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertTrue(spool.info.contains("\"server\": \"Undertow 2."), spool.info);
            Story story = Story.of(spool).get(0);
            assertEquals("127.0.0.1", story.events.get(0).c());
            assertEquals(story.count(Type.VISIT_BEGIN), story.count(Type.VISIT_END));
            assertEquals(List.of("GET /hello", "GET /worker", "GET /later", "GET /servlet", "GET /nothing"),
                    story.texts(Type.REQUEST));
            assertEquals(List.of(200L, 200L, 202L, 200L, 404L), story.numbers(Type.STATUS));
            assertEquals(5, story.count(Type.REQUEST_END), "each in a visit");
            assertEquals(way != Way.HOOKS, story.texts(Type.SERVICE_BEGIN).contains("shop"));
            Event asked = story.events.stream().filter(e -> "GET /worker".equals(e.c())).findFirst().orElseThrow();
            Event ended = story.events.stream().filter(e -> e.type() == Type.REQUEST_END && e.ts() > asked.ts()).findFirst()
                    .orElseThrow();
            assertTrue(ended.tid() != asked.tid(), "a worker's");
            assertTrue(story.events.stream().anyMatch(
                    e -> e.type() == Type.VISIT_END && e.tid() == asked.tid() && e.ts() > asked.ts() && e.ts() < ended.ts()),
                    "handed over before it ends");
            assertTrue(story.events.stream().anyMatch(
                    e -> e.type() == Type.QUEUED && e.tid() == asked.tid() && e.ts() > asked.ts() && e.ts() < ended.ts()),
                    "for whichever worker");
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void each_stream_of_http_2_is_a_request(Way way) throws Exception {
        try (Target target = Target.start(UndertowWeb.class, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
            assertEquals(200, get(client, port, "/hello").statusCode()); // in HTTP/1.1, with the wish for another protocol
            recorder.record(target.pid());
            for (String path : List.of("/hello?x=1", "/worker", "/later", "/servlet", "/nothing")) {
                assertEquals(HttpClient.Version.HTTP_2, get(client, port, path).version());
            }
            Thread.sleep(200); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of("GET /hello", "GET /worker", "GET /later", "GET /servlet", "GET /nothing"),
                    spool.of(Type.REQUEST).stream().map(Event::c).toList());
            List<Story> streams = Story.of(spool);
            assertEquals(5, streams.size());
            assertTrue(spool.of(Type.CONN_OPEN).stream().allMatch(e -> (e.b() & Type.ONE_REQUEST) != 0), "each of one request");
            assertEquals(List.of(200L, 200L, 202L, 200L, 404L), streams.stream().flatMap(s -> s.numbers(Type.STATUS).stream()).toList());
            for (Story stream : streams) {
                assertEquals(1, stream.count(Type.REQUEST_END));
                assertEquals(stream.count(Type.VISIT_BEGIN), stream.count(Type.VISIT_END));
                assertEquals(1, stream.count(Type.CONN_CLOSE));
            }
        }
    }

    /** A server that was there before the recording, with a connection, is as it was afterwards, and can be recorded again. */
    @Test
    void hooks_leave_nothing_behind() throws Exception {
        try (Target target = Target.start(UndertowWeb.class)) {
            int port = Integer.parseInt(target.tell("start"));
            HttpClient before = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            assertEquals(200, get(before, port, "/hello").statusCode());
            String unhooked = target.tell("root");
            for (int round = 0; round < 2; round++) {
                HttpClient during = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
                try (TestRecorder recorder = Way.HOOKS.recorder()) {
                    recorder.record(target.pid());
                    assertNotEquals(unhooked, target.tell("root"));
                    assertEquals(200, get(before, port, "/worker").statusCode());
                    assertEquals(200, get(during, port, "/hello").statusCode());
                    Thread.sleep(200); // it is done with the last
                    Spool spool = recorder.stop();
                    assertEquals(List.of("GET /worker", "GET /hello"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
                    assertEquals(2, spool.of(Type.REQUEST_END).size());
                    assertEquals(1, spool.of(Type.CONN_OPEN).size(), "the other was there");
                }
                assertEquals(unhooked, target.tell("root"));
                assertEquals(200, get(during, port, "/servlet").statusCode(), "one that began while hooks were in serves on");
            }
            assertEquals(202, get(before, port, "/later").statusCode());
        }
    }

    /** A client chooses the protocol in its handshake there: each has a listener of its own. */
    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"START", "HOOKS"})
    void behind_tls_both_protocols_are_told(Way way) throws Exception {
        try (Target target = WebTarget.start(UndertowWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("tls"));
            HttpsClient before = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, before.get("/hello"));
            HttpClient streamsBefore = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            assertEquals(200, stream(streamsBefore, port, "/hello"));
            recorder.record(target.pid());
            assertEquals(200, before.get("/hello"));
            assertEquals(200, stream(streamsBefore, port, "/worker"));
            HttpClient streams = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            assertEquals(202, stream(streams, port, "/later"));
            Thread.sleep(200); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of("GET /hello", "GET /worker", "GET /later"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(List.of(200L, 200L, 202L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            assertEquals(3, spool.of(Type.REQUEST_END).size());
            assertFalse(spool.info.contains("undertow-handshakes"), spool.info);
            assertEquals(200, before.get("/hello"));
            assertEquals(200, stream(streams, port, "/hello"), "as before it");
            assertEquals(200, stream(streamsBefore, port, "/hello"));
            before.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"START, TLSv1.2", "REDEFINE, TLSv1.3", "HOOKS, TLSv1.2", "HOOKS, TLSv1.3"})
    void handshakes_are_told(Way way, String tls) throws Exception {
        try (Target target = WebTarget.start(UndertowWeb.class, tls, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("tls"));
            new HttpsClient(HttpsClient.newContext(), port).close(); // its classes are there
            String unhooked = target.tell("context");
            recorder.record(target.pid());
            SSLContext one = HttpsClient.newContext();
            for (int i = 0; i < 2; i++) {
                HttpsClient client = new HttpsClient(one, port);
                assertEquals(200, client.get("/hello"));
                client.close();
            }
            SSLContext distrusts = SSLContext.getInstance("TLS");
            distrusts.init(null, null, null);
            assertThrows(IOException.class, () -> new HttpsClient(distrusts, port));
            Thread.sleep(200); // it is done with the last
            assertEquals(way == Way.HOOKS, target.tell("context").contains("RecordedSslContext"));
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            List<Story> connections = Story.of(spool);
            assertEquals(3, connections.size());
            assertEquals(List.of(1L, 0L, way == Way.HOOKS ? 0L : 1L), connections.stream().map(s -> s.count(Type.TLS_KEY)).toList(),
                    "the second was resumed; of what fails hooks do not know which it was to be");
            for (Story connection : connections) {
                assertEquals("127.0.0.1", connection.events.get(0).c());
                assertEquals(connection.count(Type.VISIT_BEGIN), connection.count(Type.VISIT_END));
                assertEquals(connection.count(Type.TLS_ENTER), connection.count(Type.TLS_EXIT));
                assertEquals(1, connection.count(Type.CONN_CLOSE));
            }
            assertEquals(List.of(1L, 1L, 0L), connections.stream().map(s -> s.count(Type.REQUEST)).toList());
            assertEquals(List.of(0L, 0L), connections.stream().limit(2).map(s -> last(s.numbers(Type.TLS_EXIT))).toList());
            assertEquals(-1, last(connections.get(2).numbers(Type.TLS_EXIT)), "the client distrusted it");
            assertEquals(unhooked, target.tell("context"));
        }
    }

    private static long last(List<Long> numbers) {
        return numbers.get(numbers.size() - 1);
    }

    private static int stream(HttpClient client, int port, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path)).build();
        HttpResponse<Void> response = client.send(request, HttpResponse.BodyHandlers.discarding());
        assertEquals(HttpClient.Version.HTTP_2, response.version());
        return response.statusCode();
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"START", "HOOKS"})
    void a_handler_that_dispatches_to_itself_has_one_request(Way way) throws Exception {
        try (Target target = Target.start(UndertowWeb.class, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("self"));
            recorder.record(target.pid());
            HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            for (int i = 0; i < 3; i++) {
                assertEquals(200, get(client, port, "/").statusCode());
            }
            Thread.sleep(200); // it is done with the last
            Story story = Story.of(recorder.stop()).get(0);
            assertEquals(3, story.count(Type.REQUEST));
            assertEquals(3, story.count(Type.REQUEST_END));
        }
    }

    private static HttpResponse<Void> get(HttpClient client, int port, String path) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(), HttpResponse.BodyHandlers.discarding());
    }
}
