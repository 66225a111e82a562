package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Story;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server level in Helidon, by probes. */
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "Helidon's classes are of Java 21")
class HelidonIT {
    private static final Path WEB = Path.of("src/test/resources/helidon/HelidonWeb.java");

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"REDEFINE", "START"})
    void requests_of_a_connection_are_told_each_in_a_visit(Way way) throws Exception {
        try (Target target = Target.startSource(WEB, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
            assertEquals(200, ask(client.build(), port, "GET", "/hello"));
            recorder.record(target.pid());
            HttpClient another = client.build();
            assertEquals(200, ask(another, port, "GET", "/hello?x=1"));
            assertEquals(201, ask(another, port, "POST", "/items/7"));
            assertEquals(404, ask(another, port, "GET", "/nothing"));
            assertEquals(500, ask(another, port, "GET", "/fails"));
            Thread.sleep(200); // the server is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertTrue(spool.info.contains("\"server\": \"Helidon"), spool.info);
            Story story = Story.of(spool).get(0);
            assertEquals("127.0.0.1", story.events.get(0).c());
            assertEquals(List.of("GET /hello", "POST /items/7", "GET /nothing", "GET /fails"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(List.of(200L, 201L, 404L, 500L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            assertEquals(4, spool.of(Type.REQUEST_END).size());
            assertEquals(4, spool.of(Type.VISIT_BEGIN).size());
            assertEquals(4, spool.of(Type.VISIT_END).size());
            assertTrue(spool.of(Type.REQUEST_END).get(0).ts() - spool.of(Type.REQUEST).get(0).ts() >= 20_000_000, "it waits 20 ms");
        }
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"START"})
    void streams_of_a_connection_are_each_one_of_their_own(Way way) throws Exception {
        try (Target target = Target.startSource(WEB, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
            assertEquals(200, ask(client, port, "GET", "/hello")); // from the second on they are streams
            recorder.record(target.pid());
            var both = List.of(asking(client, port), asking(client, port));
            for (var one : both) {
                assertEquals(HttpClient.Version.HTTP_2, one.get().version());
            }
            Thread.sleep(200); // the server is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            List<Story> stories = Story.of(spool);
            assertEquals(2, stories.size());
            for (Story story : stories) {
                assertEquals("127.0.0.1", story.events.get(0).c());
                assertEquals(List.of("GET /hello"), story.texts(Type.REQUEST));
                assertEquals(List.of(200L), story.numbers(Type.STATUS));
                assertEquals(1, story.count(Type.REQUEST_END));
                assertEquals(1, story.count(Type.CONN_CLOSE));
            }
        }
    }

    private static CompletableFuture<HttpResponse<String>> asking(HttpClient client, int port) {
        return client.sendAsync(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/hello")).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static int ask(HttpClient client, int port, String method, String path) throws Exception {
        var body = method.equals("POST") ? BodyPublishers.ofString("seven") : BodyPublishers.noBody();
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).method(method, body).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    }
}
