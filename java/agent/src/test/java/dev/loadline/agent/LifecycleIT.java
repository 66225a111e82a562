package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Api;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Start, stop, and everything that may go wrong between. */
@Tag("alone")
class LifecycleIT {
    /** Of a spool that is soon full: two for each of the threads, which the agent's two halves write, and some for events to come. */
    private static final int CHUNKS = 40;

    @Test
    void a_second_recorder_is_refused_and_the_first_goes_on() throws Exception {
        try (Target target = Target.start(Api.class);
                TestRecorder first = TestRecorder.prepare();
                TestRecorder second = TestRecorder.prepare()) {
            first.record(target.pid());
            second.attach(target.pid());
            assertEquals(TestRecorder.FAILED, second.read().state);
            assertEquals("already being recorded by pid " + ProcessHandle.current().pid(), second.read().message);
            target.tell("all");
            assertEquals(1, first.stop().of(Type.APP_POP).size());
        }
    }

    @Test
    void when_the_recorder_dies_the_agent_stops_and_can_be_used_again() throws Exception {
        try (Target target = Target.start(Api.class);
                TestRecorder killed = TestRecorder.prepare();
                TestRecorder next = TestRecorder.prepare()) {
            killed.record(target.pid());
            target.tell("all");
            killed.die();
            killed.await(TestRecorder.STOPPED);
            target.tell("all");
            assertEquals(1, killed.read().of(Type.APP_POP).size());
            next.record(target.pid());
            target.tell("all");
            assertEquals(1, next.stop().of(Type.APP_POP).size());
        }
    }

    @Test
    void at_start_it_records_from_the_begin() throws Exception {
        try (TestRecorder recorder = TestRecorder.prepare();
                Target target = Target.start(Api.class, "-javaagent:" + TestRecorder.JAR + "=" + recorder.directory)) {
            recorder.await(TestRecorder.RECORDING);
            target.tell("all");
            Spool spool = recorder.stop();
            assertEquals(1, spool.of(Type.APP_POP).size());
            assertTrue(spool.info.contains("\"java\": " + Runtime.version().feature()), spool.info);
            assertTrue(spool.info.contains("\"name\": \"Api\""), spool.info);
            assertEquals("", target.errors());
        }
    }

    @Test
    void without_an_argument_it_stays_dormant_until_a_recorder_comes() throws Exception {
        try (Target target = Target.start(Api.class, "-javaagent:" + TestRecorder.JAR);
                TestRecorder recorder = TestRecorder.prepare()) {
            target.tell("all");
            recorder.record(target.pid());
            target.tell("all");
            assertEquals(1, recorder.stop().of(Type.APP_POP).size());
        }
    }

    @Test
    void the_jvm_says_nothing_but_its_own_warning_of_a_dynamic_agent() throws Exception {
        try (Target target = Target.start(Api.class); TestRecorder recorder = TestRecorder.prepare()) {
            recorder.record(target.pid());
            target.tell("all");
            recorder.stop();
            List<String> said = target.errors().lines()
                    .filter(line -> !line.contains("loaded dynamically") && !line.contains("serviceability tool")
                            && !line.contains("Dynamic loading of agents"))
                    .toList();
            assertEquals(List.of(), said);
        }
    }

    @Test
    void a_full_spool_loses_events_and_counts_them() throws Exception {
        try (Target target = Target.start(Api.class);
                TestRecorder recorder = TestRecorder.prepare(CHUNKS * 65_536, TestRecorder.ALL_LEVELS)) {
            recorder.record(target.pid());
            target.tell("emit");
            Thread.sleep(300);
            target.tell("quiet");
            Spool spool = recorder.stop();
            assertTrue(spool.lost > 1000, "lost " + spool.lost);
            assertTrue(spool.of(Type.APP_EVENT).size() > 1000, () -> spool.lost + " lost, kept " + spool.counts());
            assertEquals("", spool.message);
        }
    }

    @Test
    void a_spool_that_is_none_is_refused_in_words() throws Exception {
        try (Target target = Target.start(Api.class); TestRecorder recorder = TestRecorder.prepare()) {
            Path events = recorder.directory.resolve("agent.events");
            Path kept = recorder.directory.resolve("kept");
            Files.move(events, kept);
            Files.writeString(events, "x".repeat(70_000));
            recorder.attach(target.pid());
            assertTrue(target.errors().contains("is not an agent's spool"), target.errors());
            Files.move(kept, events, StandardCopyOption.REPLACE_EXISTING);
            recorder.record(target.pid());
            recorder.stop();
        }
    }

    @Test
    void a_library_that_is_missing_fails_the_recording_in_words() throws Exception {
        try (Target target = Target.start(Api.class); TestRecorder recorder = TestRecorder.prepare()) {
            try (var file = new java.io.RandomAccessFile(recorder.directory.resolve("agent.events").toFile(), "rw")) {
                file.seek(1024);
                file.write("/nowhere/libloadline-agent.so\0".getBytes());
            }
            recorder.attach(target.pid());
            Spool spool = recorder.read();
            assertEquals(TestRecorder.FAILED, spool.state);
            assertTrue(spool.message.contains("/nowhere/libloadline-agent.so"), spool.message);
            target.tell("all");
        }
    }

    @Test
    void recordings_begin_and_end_under_heavy_load_without_a_crash() throws Exception {
        try (Target target = Target.start(Api.class)) {
            target.tell("emit");
            for (int i = 0; i < 8; i++) {
                try (TestRecorder recorder = TestRecorder.prepare()) {
                    recorder.record(target.pid());
                    Thread.sleep(150);
                    Spool spool;
                    if (i % 2 == 0) {
                        spool = recorder.stop();
                    } else {
                        recorder.die();
                        recorder.await(TestRecorder.STOPPED);
                        spool = recorder.read();
                    }
                    assertFalse(spool.of(Type.APP_EVENT).isEmpty());
                    assertEquals("", spool.message);
                }
            }
            assertTrue(target.isAlive());
            target.tell("quiet");
        }
    }
}
