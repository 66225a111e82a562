package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import io.netty.handler.ssl.OpenSsl;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server level in Netty, by probes. */
class NettyIT {
    @ParameterizedTest
    @CsvSource({"REDEFINE, TLSv1.3", "START, TLSv1.2", "HOOKS, TLSv1.2", "HOOKS, TLSv1.3"})
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

    /** Of Reactor Netty's first request nothing was told, nor of its handshakes. */
    @ParameterizedTest
    @CsvSource({"START, TLSv1.3", "HOOKS, TLSv1.2", "HOOKS, TLSv1.3"})
    void a_channel_of_which_others_hear_late_is_told_from_its_first_byte(Way way, String tls) throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, tls, way.options()); TestRecorder recorder = way.recorder()) {
            TwoClients told = TwoClients.visit(Integer.parseInt(target.tell("held")), target, recorder, "200 /hello?x=1", "202 /later");
            assertEquals(List.of("GET /hello", "GET /later"), told.full.texts(Type.REQUEST));
            assertEquals(List.of("GET /hello"), told.resumed.texts(Type.REQUEST));
        }
    }

    /** Its engines give what they resume a new time of creation, and choose a key for it, too. */
    @ParameterizedTest
    @CsvSource({"START, TLSv1.3", "START, TLSv1.2", "HOOKS, TLSv1.2", "HOOKS, TLSv1.3"})
    void engines_of_openssl_say_whether_they_resumed_a_session(Way way, String tls) throws Exception {
        assumeTrue(OpenSsl.isAvailable(), "BoringSSL for this machine");
        try (Target target = WebTarget.start(NettyWeb.class, tls, way.options()); TestRecorder recorder = way.recorder()) {
            TwoClients told = TwoClients.visit(Integer.parseInt(target.tell("openssl")), target, recorder, "200 /hello?x=1");
            assertEquals(List.of("GET /hello"), told.resumed.texts(Type.REQUEST));
        }
    }

    /** A server that was there before the recording, with a connection, is as it was afterwards, and can be recorded again. */
    @Test
    void hooks_leave_nothing_behind() throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3")) {
            int port = Integer.parseInt(target.tell("start"));
            HttpsClient before = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, before.get("/hello"));
            String unhooked = target.tell("handlers");
            for (int round = 0; round < 2; round++) {
                try (TestRecorder recorder = Way.HOOKS.recorder(); HttpsClient during = new HttpsClient(HttpsClient.newContext(), port)) {
                    recorder.record(target.pid());
                    assertEquals(200, before.get("/hello"));
                    assertEquals(200, during.get("/hello"));
                    assertNotEquals(unhooked, target.tell("handlers"));
                    Thread.sleep(200); // it is done with the last
                    Spool spool = recorder.stop();
                    assertEquals(List.of("GET /hello", "GET /hello"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
                    assertEquals(2, spool.of(Type.REQUEST_END).size());
                    assertEquals(200, during.get("/hello"), "one that began while hooks were in serves on");
                }
                Thread.sleep(200); // the server sees the client's close
                assertEquals(unhooked, target.tell("handlers"));
            }
            assertEquals(200, before.get("/hello"));
            before.close();
        }
    }

    /** As they are in Vert.x, Armeria and gRPC. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void each_stream_of_http_2_is_a_request_where_streams_are_numbers(Way way) throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options())) {
            int port = Integer.parseInt(target.tell("streams"));
            HttpClient before = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            get(before, port, "/hello"); // its classes are there
            String unhooked = target.tell("handlers");
            HttpClient during = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            for (int round = 0; round < 2; round++) {
                try (TestRecorder recorder = way.recorder()) {
                    recorder.record(target.pid());
                    get(before, port, "/hello?x=1");
                    get(during, port, "/later");
                    assertEquals(way == Way.HOOKS, target.tell("handlers").contains("NumberedStreams"));
                    get(before, port, "/parts");
                    get(during, port, "/call");
                    assertThrows(IOException.class, () -> get(during, port, "/never"));
                    get(before, port, "/nothing");
                    Thread.sleep(200); // it is done with the last
                    Spool spool = recorder.stop();
                    assertEquals("", spool.message);
                    assertEquals(List.of("GET /hello", "GET /later", "GET /parts", "GET /call", "GET /never", "GET /nothing"),
                            spool.of(Type.REQUEST).stream().map(Event::c).toList());
                    assertEquals(List.of(200L, 202L, 200L, 200L, 404L, 404L), spool.of(Type.STATUS).stream().map(Event::b).toList(),
                            "the fourth's code is one of gRPC's, NOT_FOUND; the fifth has none");
                    assertEquals(5, spool.of(Type.REQUEST_END).size());
                    assertEquals(6, spool.of(Type.CONN_CLOSE).size(), "each a connection of its own");
                    assertEquals(6, spool.of(Type.CONN_OPEN).stream().filter(e -> (e.b() & Type.ONE_REQUEST) != 0).count());
                    Event later = spool.of(Type.REQUEST).get(1);
                    assertTrue(spool.of(Type.REQUEST_END).get(1).ts() - later.ts() >= 50_000_000, "over when the other thread has answered");
                    assertFalse(spool.info.contains("netty-streams"), spool.info);
                }
            }
            get(during, port, "/hello");
            assertFalse(target.tell("handlers").contains("NumberedStreams"));
            assertTrue(target.tell("handlers").contains(unhooked.substring(unhooked.indexOf("class "))), target.tell("handlers"));
        }
    }

    @ParameterizedTest
    @CsvSource({"START, start", "START, streams", "HOOKS, start", "HOOKS, streams"})
    void a_stream_is_over_when_its_client_has_let_all_of_the_response_go(Way way, String codec) throws Exception {
        System.setProperty("jdk.httpclient.windowsize", "65536");
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            URI big = URI.create("https://localhost:" + target.tell(codec) + "/big");
            HttpClient client = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            get(client, big); // its classes are there
            recorder.record(target.pid());
            try (InputStream body = client.send(HttpRequest.newBuilder(big).build(), HttpResponse.BodyHandlers.ofInputStream()).body()) {
                Thread.sleep(100);
                assertEquals(1_000_000, body.readAllBytes().length);
            }
            Thread.sleep(200); // it is done with it
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of(200L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            assertEquals(1, spool.of(Type.REQUEST_END).size());
            assertTrue(spool.of(Type.REQUEST_END).get(0).ts() - spool.of(Type.REQUEST).get(0).ts() >= 100_000_000);
        } finally {
            System.clearProperty("jdk.httpclient.windowsize");
        }
    }

    /** As the JDK's client asks for it where there is no TLS. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void a_connection_goes_on_in_http_2_if_its_first_request_asks_for_that(Way way) throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            URI server = URI.create("http://localhost:" + target.tell("cleartext"));
            get(HttpClient.newHttpClient(), server.resolve("/hello")); // its classes are there
            recorder.record(target.pid());
            HttpClient client = HttpClient.newHttpClient();
            for (String path : List.of("/hello", "/later", "/nothing")) {
                get(client, server.resolve(path));
            }
            Thread.sleep(200); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            // It is answered twice, in each protocol. Hooks hear the new one from what is read next.
            boolean asStream = way != Way.HOOKS;
            assertEquals(asStream ? List.of("GET /hello", "GET /hello", "GET /later", "GET /nothing") : List.of("GET /hello", "GET /later", "GET /nothing"),
                    spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(asStream ? List.of(101L, 200L, 202L, 404L) : List.of(101L, 202L, 404L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            assertEquals(spool.of(Type.REQUEST).size(), spool.of(Type.REQUEST_END).size());
        }
    }

    @Test
    void streams_that_hooks_cannot_hear_are_said_to_be_unseen() throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3"); TestRecorder recorder = Way.HOOKS.recorder()) {
            int port = Integer.parseInt(target.tell("own-encoder"));
            recorder.record(target.pid());
            HttpClient client = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            get(client, port, "/hello");
            get(client, port, "/nothing");
            assertFalse(target.tell("handlers").contains("UntilHttp"), "nothing waits for a codec any more");
            Spool spool = recorder.stop();
            assertEquals(0, spool.of(Type.REQUEST).size());
            assertTrue(spool.info.contains("netty-streams"), spool.info);
        }
    }

    /** Vert.x and Quarkus have a codec that comes with the first request without TLS; Armeria one of its own that is a decoder and an encoder. */
    @ParameterizedTest
    @CsvSource({"HOOKS, first-bytes", "REDEFINE, first-bytes", "START, first-bytes", "HOOKS, combined", "START, combined"})
    void requests_are_told_whatever_their_codec_is_made_of_and_when(Way way, String codec) throws Exception {
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell(codec));
            assertEquals("200 200", twice(port)); // its classes are there
            recorder.record(target.pid());
            assertEquals("200 200", twice(port));
            Thread.sleep(200); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of("GET /hello", "GET /parts"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(List.of(200L, 200L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            assertEquals(2, spool.of(Type.REQUEST_END).size());
            assertEquals(1, spool.of(Type.CONN_CLOSE).size());
        }
    }

    /** On one new connection. */
    private static String twice(int port) throws Exception {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            StringBuilder statuses = new StringBuilder();
            for (String path : List.of("/hello", "/parts")) {
                socket.getOutputStream().write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                statuses.append(in.readLine().split(" ")[1]).append(' ');
                while (!in.readLine().isEmpty()) {
                    // its header
                }
                assertEquals(5, in.skip(5)); // hello, parts
            }
            return statuses.toString().trim();
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
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
            assertTrue(spool.of(Type.CONN_OPEN).stream().allMatch(e -> (e.b() & Type.ONE_REQUEST) != 0), "of one request");
            Event later = spool.of(Type.REQUEST).get(1);
            assertTrue(spool.of(Type.REQUEST_END).get(1).ts() - later.ts() >= 50_000_000, "over when the other thread has answered");
        }
    }

    private static void get(HttpClient client, int port, String path) throws Exception {
        get(client, URI.create("https://localhost:" + port + path));
    }

    private static void get(HttpClient client, URI page) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(page).build();
        assertEquals(HttpClient.Version.HTTP_2, client.send(request, HttpResponse.BodyHandlers.discarding()).version());
    }

    static Stream<String> paths() {
        Stream<String> all = Stream.of("/quarkus", "/reactor", "/executed", "/submitted", "/threaded", "/coroutine", "/scheduled", "/completed");
        return Runtime.version().feature() < 21 ? all : Stream.concat(all, Stream.of("/virtual"));
    }

    @ParameterizedTest
    @MethodSource("paths")
    void what_an_event_loop_gives_to_an_executor_is_a_visit_there(String path) throws Exception {
        Story story = story(path);
        Event request = story.first(Type.REQUEST);
        Event end = story.first(Type.REQUEST_END);
        List<Event> pool = inPool(story.events);
        assertEquals(List.of(Type.VISIT_BEGIN, Type.VISIT_END), pool.stream().map(Event::type).toList(), story.events.toString());
        ExecutorVisits.assertMadeIn(pool.get(0), request);
        assertTrue(pool.get(0).ts() < end.ts() && pool.get(1).ts() > end.ts());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/timed", "/again"})
    void a_timer_and_an_object_that_runs_for_many_are_no_visits(String path) throws Exception {
        // Of what runs for many the first is one: that it does is not known yet.
        assertEquals(path.equals("/again") ? 2 : 0, inPool(story(path).events).size());
    }

    private static Story story(String path) throws Exception {
        Way way = Way.START;
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, client.get(path));
            Thread.sleep(100); // its thread is done with it
            client.close();
            Thread.sleep(200);
            return Story.of(recorder.stop(), client);
        }
    }

    @Test
    void what_is_read_of_a_stream_when_it_is_asked_for_is_a_visit() throws Exception {
        Way way = Way.START;
        try (Target target = WebTarget.start(NettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("asked"));
            HttpClient client = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            get(client, port, "/hello"); // its classes are there
            recorder.record(target.pid());
            get(client, port, "/executed");
            Thread.sleep(200); // its thread is done with it
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of("GET /executed"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(2, inPool(spool.events).size(), "a task of it is made in one");
        }
    }

    @Test
    void what_is_handed_back_to_the_event_loop_is_a_visit_there() throws Exception {
        Story story = story("/executed");
        Event pool = inPool(story.events).get(0);
        List<Event> back = story.events.stream()
                .filter(e -> e.type() == Type.VISIT_BEGIN && e.tid() == story.first(Type.REQUEST).tid() && e.ts() > pool.ts() && e.b() != 0).toList();
        assertEquals(1, back.size(), story.events.toString());
        ExecutorVisits.assertMadeIn(back.get(0), pool);
        assertTrue(back.get(0).ts() <= story.first(Type.STATUS).ts());
    }

    /** Visits of others than the event loop. */
    private static List<Event> inPool(List<Event> events) {
        Event request = events.stream().filter(e -> e.type() == Type.REQUEST).findFirst().orElseThrow();
        return events.stream()
                .filter(e -> e.tid() != request.tid() && (e.type() == Type.VISIT_BEGIN || e.type() == Type.VISIT_END)).toList();
    }
}
