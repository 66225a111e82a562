package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.HttpCalls;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of other services by HTTP. */
class CallsIT {
    @ParameterizedTest
    @EnumSource(names = {"START", "REDEFINE"})
    void each_is_told_once_with_where_the_service_is_and_no_more(Way way) throws Exception {
        try (Target target = Target.start(HttpCalls.class, way.options()); TestRecorder recorder = way.recorder()) {
            String service = "http://127.0.0.1:" + target.tell("port");
            target.tell("url");
            recorder.record(target.pid());
            List<String> expected = new ArrayList<>();
            for (String client : List.of("url", "client", "apache4", "apache5", "ok", "okOnItsThread")) {
                assertEquals("204", target.tell(client));
                expected.addAll(List.of(service, "end"));
            }
            assertEquals("404", target.tell("nothing"));
            expected.addAll(List.of(service, "end"));
            target.tell("refused");
            expected.addAll(List.of("http://127.0.0.1:1", "end"));
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(expected, spool.where(e -> e.type() == Type.CALL_BEGIN || e.type() == Type.CALL_END).stream()
                    .map(e -> e.type() == Type.CALL_BEGIN ? e.c() : "end").toList());
        }
    }

    /** Each has a number of its own, by which its end is known. */
    @ParameterizedTest
    @EnumSource(names = {"START", "REDEFINE"})
    void one_whose_answer_comes_to_another_thread_ends_with_that_with_its_failure_or_when_nobody_wants_it_any_more(Way way) throws Exception {
        try (Target target = Target.start(HttpCalls.class, way.options()); TestRecorder recorder = way.recorder()) {
            String service = "http://127.0.0.1:" + target.tell("port");
            for (String client : List.of("future", "reactor", "vertx", "jetty", "apacheAsync")) {
                target.tell(client);
            }
            recorder.record(target.pid());
            List<String> expected = new ArrayList<>();
            for (String client : List.of(
                    "future", "reactor", "reactorInParts", "cancelledReactor", "vertx", "jetty", "apacheAsync", "cancelledApacheAsync")) {
                assertEquals(client.startsWith("cancelled") ? "" : client.endsWith("InParts") ? "!" : "204", target.tell(client));
                expected.add(service);
            }
            for (String client : List.of(
                    "refusedFuture", "refusedReactor", "refusedVertx", "refusedJetty", "refusedApacheAsync")) {
                assertEquals("", target.tell(client));
                expected.add("http://127.0.0.1:1");
            }
            Thread.sleep(200); // who waits for an answer may have it before its end is told
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            List<Event> begins = spool.of(Type.CALL_BEGIN);
            assertEquals(expected, begins.stream().map(Event::c).toList());
            List<Event> ends = spool.of(Type.CALL_END);
            assertEquals(begins.stream().map(Event::a).toList(), ends.stream().map(Event::a).sorted().toList());
            Event parts = begins.get(2);
            Event last = ends.stream().filter(e -> e.a() == parts.a()).findFirst().orElseThrow();
            assertTrue(last.ts() - parts.ts() >= 500_000_000, "with its response's last byte");
        }
    }
}
