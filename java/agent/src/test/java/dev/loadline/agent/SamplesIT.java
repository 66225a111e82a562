package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Churn;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Samples of what runs on the CPUs. */
class SamplesIT {
    private static final String HOT = Churn.class.getName() + ".burn(Churn.java:";
    private static final long EVERY_NS = 4_000_000;

    private static long weight(List<Event> samples) {
        return samples.stream().mapToLong(e -> e.b() & 0xFFFF_FFFFL).sum();
    }

    @Test
    void a_planted_method_is_the_hottest_while_threads_and_classes_come_and_go() throws Exception {
        try (Target target = Target.start(Churn.class)) {
            target.tell("hot"); // before the recording: its thread and methods are there already
            target.tell("300");
            Spool spool;
            try (TestRecorder recorder = TestRecorder.prepare().sampling(EVERY_NS)) {
                recorder.record(target.pid());
                String[] churned = target.tell("3000").split(" ");
                assertTrue(Integer.parseInt(churned[0]) > 100, churned[0]);
                spool = recorder.stop();
            }
            assertEquals("", spool.message);
            assertEquals(0, spool.lostSamples);
            List<Event> samples = spool.of(Type.SAMPLE);
            List<Event> planted = samples.stream().filter(e -> spool.stack(e).get(0).startsWith(HOT)).toList();
            long hot = planted.get(0).a();
            List<Event> its = samples.stream().filter(e -> e.a() == hot).toList();
            assertTrue(weight(planted) > 0.9 * weight(its), () -> weight(planted) + " of " + weight(its));
            List<String> stack = spool.stack(planted.get(0));
            assertTrue(stack.get(1).startsWith(Churn.class.getName() + ".planted("), stack::toString);
            assertTrue(stack.get(stack.size() - 1).startsWith("java.lang.Thread.run"), stack::toString);
            assertTrue(samples.stream().map(Event::a).distinct().count() > 10, "threads that live shortly have their share");
            long unseen = samples.stream().filter(e -> spool.stack(e).get(0).startsWith("(")).count();
            assertTrue(unseen < samples.size() / 5, () -> unseen + " of " + samples.size() + " could not be walked");
            // What it left behind lets the program go on, and a second recording without samples has none.
            target.tell("100");
            try (TestRecorder recorder = TestRecorder.prepare()) {
                recorder.record(target.pid());
                target.tell("100");
                assertTrue(recorder.stop().of(Type.SAMPLE).isEmpty());
            }
            assertEquals("", target.errors().replaceAll("(?m)^WARNING:.*\\R?", ""));
        }
    }
}
