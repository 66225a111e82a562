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
    private static String words(Event e) {
        switch (e.type()) {
            case Type.CALL_BEGIN:
                return "call " + e.c();
            case Type.CALL_END:
                return "answered";
            case Type.SPAN_BEGIN:
                return e.c();
            default:
                return "served";
        }
    }

    @Test
    void a_call_is_a_span_of_the_caller_and_of_the_server_also_when_it_fails() throws Exception {
        try (Target target = Target.start(Calls.class, Way.START.options()); TestRecorder recorder = Way.START.recorder()) {
            target.tell("before");
            recorder.record(target.pid());
            target.tell("locate");
            target.tell("fail");
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            List<Event> told = spool.where(e -> List.of(Type.SPAN_BEGIN, Type.SPAN_END, Type.CALL_BEGIN, Type.CALL_END).contains(e.type()));
            assertEquals(List.of("call locate", "serve locate", "served", "answered", "call fail", "serve fail", "served", "answered"),
                    told.stream().map(IiopIT::words).toList());
            assertEquals(told.get(1).a(), told.get(2).a(), "the servant's own");
        }
    }
}
