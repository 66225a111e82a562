package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.JdkWeb;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Story;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server level in the JDK's own HTTP server, by probes. */
class JdkServerIT {
    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"REDEFINE", "START"})
    void requests_are_told_whoever_answers_them(Way way) throws Exception {
        try (Target target = Target.start(JdkWeb.class, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            HttpClient client = HttpClient.newHttpClient();
            assertEquals(200, get(client, port, "/hello"));
            recorder.record(target.pid());
            HttpClient another = HttpClient.newHttpClient();
            for (String path : List.of("/hello?x=1", "/empty", "/chunks", "/later", "/hello/2", "/nothing")) {
                get(another, port, path);
            }
            assertThrows(IOException.class, () -> get(another, port, "/fails"));
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertTrue(spool.info.contains("\"server\": \"HttpServer of the JDK\""), spool.info);
            List<Story> stories = Story.of(spool);
            Story story = stories.get(0);
            assertEquals("127.0.0.1", story.events.get(0).c());
            assertEquals(List.of("GET /hello", "GET /empty", "GET /chunks", "GET /later", "GET /hello/2", "GET /nothing"), story.texts(Type.REQUEST));
            assertEquals(List.of(200L, 204L, 200L, 202L, 200L, 404L), story.numbers(Type.STATUS));
            assertEquals(6, story.count(Type.REQUEST_END), "each in a visit");
            assertEquals(6, story.count(Type.QUEUED));
            assertEquals(List.of("/hello", "/empty", "/chunks", "/later", "/hello"), story.texts(Type.SERVICE_BEGIN));
            assertEquals(5, story.count(Type.SERVICE_END));
            assertEquals(story.count(Type.VISIT_BEGIN), story.count(Type.VISIT_END));
            assertEquals(1, story.count(Type.CONN_CLOSE), "with what it has nothing for");
            assertEquals(List.of(Type.REQUEST_END, Type.CONN_CLOSE), story.events.stream().map(Event::type)
                    .filter(t -> t == Type.REQUEST_END || t == Type.CONN_CLOSE).skip(5).toList(), "the last ends before its connection is closed for it");
            Event asked = story.events.stream().filter(e -> "GET /later".equals(e.c())).findFirst().orElseThrow();
            Event answered = story.events.stream().filter(e -> e.type() == Type.STATUS && e.b() == 202).findFirst().orElseThrow();
            assertNotEquals(asked.tid(), answered.tid(), "another answers");
            assertTrue(stories.size() > 1);
            for (Story failed : stories.subList(1, stories.size())) { // the client tries again
                assertEquals(List.of("GET /fails"), failed.texts(Type.REQUEST));
                assertEquals(0, failed.count(Type.REQUEST_END), "it was not answered");
                assertEquals(1, failed.count(Type.CONN_CLOSE));
            }
        }
    }

    /** Twice: a server is as it was when a recording has ended. */
    @Test
    void hooks_tell_of_requests_and_leave_nothing_behind() throws Exception {
        try (Target target = Target.start(JdkWeb.class)) {
            int port = Integer.parseInt(target.tell("start"));
            HttpClient client = HttpClient.newHttpClient();
            assertEquals(200, get(client, port, "/hello"));
            String unhooked = target.tell("filters");
            for (int round = 0; round < 2; round++) {
                try (TestRecorder recorder = Way.HOOKS.recorder()) {
                    recorder.record(target.pid());
                    assertNotEquals(unhooked, target.tell("filters"));
                    for (String path : List.of("/hello?x=1", "/empty", "/chunks", "/later", "/hello/2")) {
                        get(client, port, path);
                        Thread.sleep(50); // the hook tells of its end after the client has its response
                    }
                    Spool spool = recorder.stop();
                    assertEquals("", spool.message);
                    assertEquals(List.of("GET /hello", "GET /empty", "GET /chunks", "GET /later", "GET /hello/2"),
                            spool.of(Type.REQUEST).stream().map(Event::c).toList());
                    assertEquals(List.of(200L, 204L, 200L, 202L, 200L), spool.of(Type.STATUS).stream().map(Event::b).toList());
                    assertEquals(5, spool.of(Type.REQUEST_END).size());
                    assertEquals(List.of("/hello", "/empty", "/chunks", "/later", "/hello"),
                            spool.of(Type.SERVICE_BEGIN).stream().map(Event::c).toList());
                    assertEquals(5, spool.of(Type.SERVICE_END).size());
                    assertEquals(spool.of(Type.VISIT_BEGIN).size(), spool.of(Type.VISIT_END).size());
                    long asked = spool.of(Type.REQUEST).get(3).ts();
                    assertTrue(spool.of(Type.REQUEST_END).get(3).ts() - asked >= 50_000_000, "over when another has answered");
                }
                assertEquals(unhooked, target.tell("filters"));
            }
        }
    }

    @Test
    void hooks_tell_of_requests_behind_tls() throws Exception {
        try (Target target = WebTarget.start(JdkWeb.class, "TLSv1.3"); TestRecorder recorder = Way.HOOKS.recorder()) {
            int port = Integer.parseInt(target.tell("tls"));
            recorder.record(target.pid());
            try (HttpsClient client = new HttpsClient(HttpsClient.newContext(), port)) {
                assertEquals(200, client.get("/hello"));
                assertEquals(200, client.get("/hello"));
            }
            Thread.sleep(100); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(List.of("GET /hello", "GET /hello"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(2, spool.of(Type.REQUEST_END).size());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = "START")
    void one_thread_may_do_it_all(Way way) throws Exception {
        try (Target target = Target.start(JdkWeb.class, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("dispatcher"));
            recorder.record(target.pid());
            HttpClient client = HttpClient.newHttpClient();
            for (int i = 0; i < 3; i++) {
                assertEquals(200, get(client, port, "/hello"));
            }
            int strangersPort;
            try (Socket stranger = new Socket("127.0.0.1", port)) {
                strangersPort = stranger.getLocalPort();
                stranger.getOutputStream().write("nonsense\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                stranger.getInputStream().readAllBytes();
            }
            Spool spool = recorder.stop();
            Story rejected = of(spool, strangersPort);
            assertEquals(List.of("? /"), rejected.texts(Type.REQUEST));
            assertEquals(List.of(400L), rejected.numbers(Type.STATUS));
            Story story = Story.of(spool).get(0);
            assertEquals(3, story.count(Type.REQUEST));
            assertEquals(3, story.count(Type.REQUEST_END));
            assertEquals(1, spool.of(Type.VISIT_BEGIN).stream().map(Event::tid).distinct().count());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"REDEFINE", "START"})
    void handshakes_are_told_apart(Way way) throws Exception {
        try (Target target = WebTarget.start(JdkWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("tls"));
            SSLContext first = HttpsClient.newContext();
            try (HttpsClient client = new HttpsClient(first, port)) {
                assertEquals(200, client.get("/hello"));
            }
            recorder.record(target.pid());
            int full;
            int resumed;
            try (HttpsClient client = new HttpsClient(HttpsClient.newContext(), port)) {
                assertEquals(200, client.get("/hello"));
                assertEquals(200, client.get("/hello"));
                full = client.port();
            }
            try (HttpsClient client = new HttpsClient(first, port)) {
                assertTrue(client.resumed());
                assertEquals(200, client.get("/hello"));
                resumed = client.port();
            }
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            Story story = of(spool, full);
            assertEquals(1, story.count(Type.TLS_KEY));
            assertEquals(0L, story.numbers(Type.TLS_EXIT).get(0));
            assertEquals(2, story.count(Type.REQUEST_END));
            story = of(spool, resumed);
            assertEquals(0, story.count(Type.TLS_KEY));
            assertEquals(0L, story.numbers(Type.TLS_EXIT).get(0));
            assertEquals(1, story.count(Type.REQUEST_END));
        }
    }

    private static Story of(Spool spool, int port) {
        return Story.of(spool).stream().filter(s -> s.peerPort == port).findFirst().orElseThrow();
    }

    private static int get(HttpClient client, int port, String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(), HttpResponse.BodyHandlers.discarding()).statusCode();
    }
}
