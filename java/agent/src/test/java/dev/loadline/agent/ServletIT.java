package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.GrizzlyWeb;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Story;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server level in a servlet container that has no probes of its own. */
class ServletIT {
    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"REDEFINE", "START"})
    void requests_are_told_from_the_first_filter_on(Way way) throws Exception {
        try (Target target = Target.start(GrizzlyWeb.class, way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            HttpClient client = HttpClient.newHttpClient();
            assertEquals(200, get(client, port, "/hello"));
            recorder.record(target.pid());
            List<String> paths = List.of("/hello?x=1", "/secret", "/later", "/again", "/within", "/fails", "/hello");
            List<Integer> seen = paths.stream().map(path -> get(client, port, path)).collect(Collectors.toList());
            assertEquals(List.of(200, 403, 202, 200, 200, 500, 200), seen);
            Thread.sleep(200); // it is done with the last
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertTrue(spool.info.contains("\"server\": \"Grizzly"), spool.info);
            List<Story> stories = Story.of(spool);
            assertEquals(List.of("GET /hello", "GET /secret", "GET /later", "GET /again", "GET /within", "GET /fails", "GET /hello"),
                    of(stories, s -> one(s.texts(Type.REQUEST))), "each as a connection of its own");
            assertEquals(List.of(200L, 403L, 202L, 200L, 200L, 500L, 200L), of(stories, s -> last(s.numbers(Type.STATUS))));
            assertEquals(List.of("hello", "", "later", "again hello", "within", "fails", "hello"),
                    of(stories, s -> String.join(" ", s.texts(Type.SERVICE_BEGIN))));
            for (Story story : stories) {
                assertEquals("127.0.0.1", story.events.get(0).c());
                assertEquals(story.count(Type.VISIT_BEGIN), story.count(Type.VISIT_END));
                assertEquals(story.count(Type.SERVICE_BEGIN), story.count(Type.SERVICE_END));
                assertEquals(1, story.count(Type.REQUEST_END));
                assertEquals(1, story.count(Type.CONN_CLOSE));
            }
            Story later = stories.get(2);
            assertTrue(later.first(Type.REQUEST_END).ts() - later.first(Type.REQUEST).ts() > 50_000_000, "with its answer");
        }
    }

    private static <T> List<T> of(List<Story> stories, Function<Story, T> what) {
        return stories.stream().map(what).collect(Collectors.toList());
    }

    private static <T> T one(List<T> of) {
        assertEquals(1, of.size(), of::toString);
        return of.get(0);
    }

    private static <T> T last(List<T> of) {
        return of.get(of.size() - 1);
    }

    private static int get(HttpClient client, int port, String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(path, e);
        }
    }
}
