package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Api;
import dev.loadline.agent.programs.JettyWeb;
import dev.loadline.agent.programs.NettyWeb;
import dev.loadline.agent.programs.UndertowWeb;
import dev.loadline.agent.programs.Walled;
import dev.loadline.agent.programs.Web;
import dev.loadline.agent.testing.Compiled;
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
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What attaching, recording and leaving do to a program. */
@Tag("alone")
class HarmlessIT {
    /** Clients at once that have a server's pool grow: a thread that comes later is new to what was compiled before it. */
    private static final int CROWD = 24;

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

    /**
     * A thread that comes while a recording lasts meets what no other has met since the code was compiled. Requests that are under way when it ends find the
     * gates open: what was compiled meanwhile never saw them closed.
     */
    @ParameterizedTest
    @MethodSource("hooked")
    void neither_new_threads_nor_leaving_throw_away_what_hooks_were_compiled_into(Class<? extends Program> server, String start, String path, String types, String hot)
            throws Exception {
        try (Compiled compiled = new Compiled("dev\\.loadline\\.agent\\.hooks\\.|" + types)) {
            List<String> thrownAway;
            try (Target target = WebTarget.start(server, "TLSv1.3", compiled.options(Way.HOOKS.options()));
                    TestRecorder recorder = Way.HOOKS.recorder()) {
                int port = Integer.parseInt(target.tell(start));
                recorder.record(target.pid());
                var context = HttpsClient.newContext();
                Compiled.Work connection = () -> {
                    HttpsClient client = new HttpsClient(context, port);
                    for (int i = 0; i < 50; i++) { // Tomcat closes a connection after 100
                        assertEquals(200, client.get(path));
                    }
                    client.close();
                };
                Compiled.Work visits = () -> {
                    for (int i = 0; i < 40; i++) {
                        connection.run();
                    }
                };
                compiled.warm(hot, visits);
                List<FutureTask<Void>> crowd = new ArrayList<>();
                for (int i = 0; i < CROWD; i++) {
                    crowd.add(start(connection));
                }
                for (FutureTask<Void> one : crowd) {
                    one.get();
                }
                HttpsClient stays = new HttpsClient(context, port);
                assertEquals(200, stays.get(path));
                FutureTask<Void> meanwhile = start(visits);
                Thread.sleep(100);
                assertFalse(meanwhile.isDone());
                recorder.stop();
                meanwhile.get();
                assertEquals(200, stays.get(path)); // through what outlives the hooks, when nobody listens any more
                stays.close();
                thrownAway = compiled.thrownAway();
            }
            // Not what a probe compiled by itself loses: it is in nobody's code. That a hook is not there any more is new to the server's own code that had
            // called it.
            List<String> ours = compiled.why(thrownAway).stream()
                    .filter(why -> why.startsWith("dev.loadline.") || why.matches("\\S+ \\S+ in dev\\.loadline\\..*")).toList();
            assertEquals(List.of(), ours);
        }
    }

    private static FutureTask<Void> start(Compiled.Work work) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            work.run();
            return null;
        });
        new Thread(task).start();
        return task;
    }

    static List<Arguments> hooked() {
        return List.of(
                Arguments.of(Web.class, "start", "/items", "(com\\.zaxxer\\.hikari|org\\.apache\\.(tomcat|coyote|catalina))\\.", "Visits$Visit::run "),
                Arguments.of(JettyWeb.class, "start", "/hello", "org\\.eclipse\\.jetty\\.", "HttpConnection::onFillable "),
                Arguments.of(NettyWeb.class, "start", "/hello", "io\\.netty\\.", "RecordedChannel::channelRead "),
                Arguments.of(UndertowWeb.class, "tls", "/hello", "(io\\.undertow|org\\.xnio)\\.", "dev.loadline.agent.hooks.undertow."));
    }

    /** What was compiled while probes were dormant has in it what they do when they are not. */
    @Test
    void compiled_code_stays_when_the_first_recording_begins() throws Exception {
        try (Compiled compiled = new Compiled("com\\.zaxxer\\.|org\\.h2\\.jdbc\\.|dev\\.loadline\\.(Loadline|Span|agent\\.programs)")) {
            List<String> thrownAway;
            try (Target target = WebTarget.start(11, "Nio", "TLSv1.3", compiled.options(Way.START.options()));
                    TestRecorder recorder = Way.START.recorder()) {
                target.tell("start");
                compiled.warm("Web::query ", () -> target.tell("work"));
                recorder.record(target.pid());
                target.tell("work");
                assertEquals(40_000, recorder.stop().of(Type.SQL_BEGIN).size());
                thrownAway = compiled.thrownAway();
            }
            assertEquals(List.of(), compiled.why(thrownAway));
        }
    }

    /** The same of what calls the probes of other servers. */
    @ParameterizedTest
    @MethodSource("servers")
    void servers_stay_compiled(Class<? extends Program> server, String types, String hot) throws Exception {
        try (Compiled compiled = new Compiled(types)) {
            List<String> thrownAway;
            try (Target target = WebTarget.start(server, "TLSv1.3", compiled.options(Way.START.options()));
                    TestRecorder recorder = Way.START.recorder()) {
                HttpsClient client = new HttpsClient(HttpsClient.newContext(), Integer.parseInt(target.tell("start")));
                Compiled.Work work = () -> {
                    for (int i = 0; i < 4_000; i++) {
                        assertEquals(200, client.get("/hello"));
                    }
                };
                compiled.warm(hot, work);
                recorder.record(target.pid());
                work.run();
                thrownAway = compiled.thrownAway();
                client.close();
                assertEquals(4_000, recorder.stop().of(Type.REQUEST).size());
            }
            assertEquals(List.of(), compiled.why(thrownAway));
        }
    }

    static List<Arguments> servers() {
        return List.of(
                Arguments.of(JettyWeb.class, "org\\.eclipse\\.jetty\\.(ee10|io|server)\\.", "HttpConnection::onFillable "),
                Arguments.of(NettyWeb.class, "io\\.netty\\.(channel|handler\\.codec)\\.", "ByteToMessageDecoder::channelRead "));
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
