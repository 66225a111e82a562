package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Api;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The app level. */
class ApiIT {
    private static List<Event> app(Spool spool) {
        return spool.where(e -> e.type() >= Type.APP_STATE);
    }

    @Test
    void what_the_application_says_is_recorded_in_order() throws Exception {
        try (Target target = Target.start(Api.class); TestRecorder recorder = TestRecorder.prepare()) {
            recorder.record(target.pid());
            target.tell("all");
            List<Event> app = app(recorder.stop());
            assertEquals(
                    List.of("60 idle", "61 pricing", "63 items", "64 quote", "63 inside", "65 null", "62 null"),
                    app.stream().map(e -> e.type() + " " + e.c()).toList());
            assertEquals(42, app.get(2).a());
            assertNotEquals(0, app.get(3).a());
            assertEquals(app.get(3).a(), app.get(5).a());
        }
    }

    @Test
    void nothing_is_recorded_before_and_after() throws Exception {
        try (Target target = Target.start(Api.class);
                TestRecorder first = TestRecorder.prepare();
                TestRecorder second = TestRecorder.prepare()) {
            target.tell("all");
            first.record(target.pid());
            assertEquals(0, app(first.stop()).size());
            target.tell("all");
            assertEquals(0, app(first.read()).size());
            second.record(target.pid());
            target.tell("all");
            assertEquals(7, app(second.stop()).size());
            assertEquals(0, app(first.read()).size());
        }
    }

    @Test
    void a_span_ends_once_and_on_whichever_thread() throws Exception {
        try (Target target = Target.start(Api.class); TestRecorder recorder = TestRecorder.prepare()) {
            recorder.record(target.pid());
            target.tell("open");
            target.tell("close");
            Spool spool = recorder.stop();
            Event begin = spool.of(Type.SPAN_BEGIN).get(0);
            List<Event> ends = spool.of(Type.SPAN_END);
            assertEquals(1, ends.size());
            assertEquals(begin.a(), ends.get(0).a());
            assertNotEquals(begin.tid(), ends.get(0).tid());
        }
    }

    @Test
    void a_span_from_another_recording_ends_in_silence() throws Exception {
        try (Target target = Target.start(Api.class);
                TestRecorder first = TestRecorder.prepare();
                TestRecorder second = TestRecorder.prepare()) {
            target.tell("open");
            first.record(target.pid());
            target.tell("close");
            target.tell("open");
            assertEquals(0, first.stop().of(Type.SPAN_END).size());
            second.record(target.pid());
            target.tell("close");
            Spool spool = second.stop();
            assertEquals(0, spool.of(Type.SPAN_END).size());
            assertTrue(spool.end > spool.begin && spool.begin > 0);
        }
    }

    @Test
    void levels_that_are_not_wanted_are_not_recorded() throws Exception {
        try (Target target = Target.start(Api.class);
                TestRecorder recorder = TestRecorder.prepare(64 << 20, SpoolHeader.LEVEL_APP)) {
            recorder.record(target.pid());
            target.tell("all");
            target.tell("open");
            target.tell("close");
            Spool spool = recorder.stop();
            assertEquals(9, app(spool).size());
            assertEquals(0, spool.where(e -> e.type() > Type.SWITCH_TO && e.type() < Type.APP_STATE).size());
        }
    }
}
