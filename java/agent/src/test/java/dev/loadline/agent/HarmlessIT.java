package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Api;
import dev.loadline.agent.programs.JettyWeb;
import dev.loadline.agent.programs.NettyWeb;
import dev.loadline.agent.programs.Walled;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Program;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What attaching, recording and leaving do to a program. */
class HarmlessIT {
    private static void visit(int port) throws Exception {
        visit(port, "/items");
    }

    private static void visit(int port, String path) throws Exception {
        HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
        assertEquals(200, client.get(path));
        client.close();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void a_class_is_redefined_only_where_it_was_asked_for(Way way) throws Exception {
        Path log = Files.createTempFile("loadline-agent-test", ".redefined");
        List<String> options = new ArrayList<>(List.of(way.options()));
        options.add("-Xlog:redefine+class*=info:file=" + log + "::filecount=0");
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3", options.toArray(String[]::new));
                TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            String atStart = Files.readString(log);
            recorder.record(target.pid());
            visit(port);
            assertFalse(recorder.stop().of(Type.REQUEST).isEmpty());
            String meanwhile = Files.readString(log).substring(atStart.length());
            assertEquals(way != Way.REDEFINE, meanwhile.isEmpty(), meanwhile);
            // The JVM has loaded this one before any agent starts, and no code is compiled then that could be thrown away.
            List<String> before = atStart.lines().filter(line -> line.contains("redefined name=")).toList();
            boolean virtual = way == Way.START && Runtime.version().feature() >= 21;
            assertEquals(virtual ? 1 : 0, before.size(), atStart);
            assertTrue(before.stream().allMatch(line -> line.contains("redefined name=java.lang.VirtualThread,")), atStart);
        } finally {
            Files.delete(log);
        }
    }

    /** To initialize the class of virtual threads has a price: what was compiled counts on Thread's methods, and a thread is started. */
    @ParameterizedTest
    @EnumSource(Way.class)
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with Java 21")
    void a_program_without_virtual_threads_is_not_asked_for_any(Way way) throws Exception {
        try (Target target = Target.start(Api.class, way.options()); TestRecorder recorder = way.recorder()) {
            recorder.record(target.pid());
            target.tell("all");
            recorder.stop();
            List<String> names = new ArrayList<>();
            try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/" + target.pid() + "/task"))) {
                for (Path task : tasks) {
                    try {
                        names.add(Files.readString(task.resolve("comm")).strip());
                    } catch (IOException ended) {
                        // a thread that is gone was none of those
                    }
                }
            }
            assertTrue(names.stream().noneMatch(name -> name.startsWith("VirtualThread-")), names::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({"START, false", "START, true", "REDEFINE, false"})
    void classes_that_do_not_see_the_agents_go_on_without_probes(Way way, boolean methods) throws Exception {
        String[] options = way.options();
        if (methods) {
            options[0] += "=methods=org.h2.command.*";
        }
        try (Target target = Target.start(Walled.class, options); TestRecorder recorder = way.recorder()) {
            assertEquals("42", target.tell("query"));
            recorder.record(target.pid());
            assertEquals("42", target.tell("query"));
            Spool spool = recorder.stop();
            assertTrue(spool.message.contains("do not see the agent's"), spool.message);
            assertTrue(spool.of(Type.SQL_BEGIN).isEmpty());
        }
    }

    @ParameterizedTest
    @CsvSource({"10, false", "11, false", "11, true"})
    void what_was_put_before_the_servers_parts_is_taken_away(int version, boolean killed) throws Exception {
        try (Target target = WebTarget.start(version, "Nio", "TLSv1.3"); TestRecorder recorder = Way.HOOKS.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            visit(port);
            String before = target.tell("parts");
            recorder.record(target.pid());
            String during = target.tell("parts");
            int last = before.lastIndexOf(' ');
            assertNotEquals(before, during);
            assertEquals(before.substring(last), during.substring(during.lastIndexOf(' ')), "its figures are the pool's");
            if (killed) {
                recorder.die();
                recorder.await(TestRecorder.STOPPED);
            } else {
                recorder.stop();
            }
            assertEquals(before, target.tell("parts"));
            visit(port);
            assertEquals("", target.errors().lines().filter(line -> line.contains("Exception")).findFirst().orElse(""));
        }
    }

    @Test
    void a_server_whose_adapter_stands_behind_another_is_seen_and_left_as_it_was() throws Exception {
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3", "-Dweb.adapter=true");
                TestRecorder recorder = Way.HOOKS.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            String before = target.tell("parts");
            recorder.record(target.pid());
            visit(port);
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(1, spool.of(Type.REQUEST).size());
            assertEquals(before, target.tell("parts"));
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void recordings_that_follow_each_other_leave_nothing_behind(Way way) throws Exception {
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3", way.options())) {
            recordAgainAndAgain(target, way, 10, "/items");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {JettyWeb.class, NettyWeb.class})
    void recordings_of_other_servers_by_hooks_do_so_too(Class<? extends Program> server) throws Exception {
        try (Target target = WebTarget.start(server, "TLSv1.3")) {
            recordAgainAndAgain(target, Way.HOOKS, 6, "/hello");
        }
    }

    private static void recordAgainAndAgain(Target target, Way way, int times, String path) throws Exception {
        int port = Integer.parseInt(target.tell("start"));
        String[] first = null;
        String[] last = null;
        for (int i = 0; i < times; i++) {
            try (TestRecorder recorder = way.recorder()) {
                recorder.record(target.pid());
                visit(port, path);
                assertFalse(recorder.stop().of(Type.REQUEST).isEmpty());
            }
            Thread.sleep(100); // the agent's own thread ends
            last = target.tell("usage").split(" ");
            first = i == 2 ? last : first; // what loads once has loaded
        }
        for (int figure = 0; figure < last.length; figure++) {
            int more = Integer.parseInt(last[figure]) - Integer.parseInt(first[figure]);
            // Reflection makes a class for a field or method that was used often, once.
            assertTrue(more <= (figure == 0 ? 20 : 1), "classes, threads, descriptors: "
                    + String.join(" ", first) + " then " + String.join(" ", last));
        }
    }

    @Test
    void probes_that_were_placed_ahead_serve_every_recording_until_they_are_taken_out() throws Exception {
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3")) {
            int port = Integer.parseInt(target.tell("start"));
            arm(target, 0);
            assertTrue(statements(target, port) > 0);
            assertTrue(statements(target, port) > 0);
            arm(target, TestRecorder.RESTORE);
            assertEquals(0, statements(target, port));
        }
    }

    @Test
    void probes_are_taken_out_at_the_end_if_that_was_asked_for() throws Exception {
        try (Target target = WebTarget.start(11, "Nio", "TLSv1.3");
                TestRecorder restoring = TestRecorder.prepare(TestRecorder.MAY_REDEFINE | TestRecorder.RESTORE)) {
            int port = Integer.parseInt(target.tell("start"));
            restoring.record(target.pid());
            visit(port);
            assertFalse(restoring.stop().of(Type.SQL_BEGIN).isEmpty());
            assertEquals(0, statements(target, port));
        }
    }

    private static void arm(Target target, int more) throws Exception {
        try (TestRecorder recorder = TestRecorder.prepare(TestRecorder.ONLY_ARM | more)) {
            recorder.attach(target.pid());
            recorder.await(TestRecorder.STOPPED);
            assertEquals("", recorder.read().message);
        }
    }

    /** Records a visit, redefining nothing; returns how many statements were seen. */
    private static int statements(Target target, int port) throws Exception {
        try (TestRecorder recorder = TestRecorder.prepare()) {
            recorder.record(target.pid());
            visit(port);
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(1, spool.of(Type.REQUEST).size());
            return spool.of(Type.SQL_BEGIN).size();
        }
    }
}
