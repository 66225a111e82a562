package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import dev.loadline.programs.Calls;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls between object request brokers. */
class IiopIT {
    @Test
    void a_call_is_a_span_of_the_caller_and_of_the_server_also_when_it_fails() throws Exception {
        try (Target target = Target.start(Calls.class, Way.START.options()); TestRecorder recorder = Way.START.recorder()) {
            target.tell("before");
            recorder.record(target.pid());
            target.tell("locate");
            target.tell("fail");
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            List<Event> spans = spool.where(e -> e.type() == Type.SPAN_BEGIN || e.type() == Type.SPAN_END);
            assertEquals(List.of("call locate", "serve locate", "end", "end", "call fail", "serve fail", "end", "end"),
                    spans.stream().map(e -> e.type() == Type.SPAN_BEGIN ? e.c() : "end").toList());
            assertEquals(spans.get(1).a(), spans.get(2).a(), "the servant's ends before the caller's");
            assertEquals(spans.get(0).a(), spans.get(3).a());
        }
    }
}
