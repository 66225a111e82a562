package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Story;
import dev.loadline.agent.testing.TestRecorder;
import java.util.List;

/** What is told of requests that go on in executors. */
final class ExecutorVisits {
    private ExecutorVisits() {}

    /** Asks for a page of {@code Pooled}: the task that it waits for is no visit, the one that it leaves its request to is. */
    static void assertVisited(TestRecorder recorder, int port) throws Exception {
        HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
        assertEquals(202, client.get("/pooled"));
        client.close();
        Thread.sleep(200); // the server is done with it
        Story story = Story.of(recorder.stop(), client);
        Event request = story.first(Type.REQUEST);
        List<Event> tasks = story.events.stream().filter(e -> e.type() == Type.VISIT_BEGIN && e.b() != 0).toList();
        assertEquals(1, tasks.size(), story.events.toString());
        assertMadeIn(tasks.get(0), request);
        assertTrue(tasks.get(0).tid() != request.tid());
        assertTrue(story.first(Type.REQUEST_END).ts() - tasks.get(0).ts() >= 20_000_000, "over when the task has answered");
    }

    /** A task's visit tells that it was made after this request came, and before the visit. */
    static void assertMadeIn(Event visit, Event request) {
        assertTrue(visit.b() > request.ts() && visit.b() <= visit.ts(), visit + " of " + request);
    }
}
