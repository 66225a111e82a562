package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.JettyWeb;
import dev.loadline.agent.programs.NettyWeb;
import dev.loadline.agent.programs.UndertowWeb;
import dev.loadline.agent.programs.Web;
import dev.loadline.agent.testing.Compiled;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Program;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What HotSpot throws of its code away while recordings begin, last and end. It must have the time to compile: alone. */
@Tag("alone")
class StaysCompiledIT {
    /** Clients at once that have a server's pool grow: a thread that comes later is new to what was compiled before it. */
    private static final int CROWD = 24;
    /** What is called with each request; not what sees to a text, a pool or a recording that is new. */
    private static final String PROBES = "dev\\.loadline\\.agent\\.boot\\.(\\w*Probes|Identities|Emit|Visit)";

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
            // called it. A branch that the server, or the JDK for it, first takes when many come at once is thrown away wherever it was inlined, with hooks or
            // without.
            String grows = "\\S+ unstable_if in ((java|jdk|sun)\\.\\S+ < )*" + types + ".*";
            List<String> ours = compiled.why(thrownAway).stream()
                    .filter(why -> why.matches("\\S+ \\S+ in dev\\.loadline\\..*") || why.startsWith("dev.loadline.") && !why.matches(grows)).toList();
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
        try (Compiled compiled = new Compiled("com\\.zaxxer\\.|org\\.h2\\.jdbc\\.|dev\\.loadline\\.(Loadline|Span|agent\\.programs)|" + PROBES)) {
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

    /** The same of what calls the probes of other servers, and of the JDK's sockets, which it is told by one to record. */
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
                Arguments.of(JettyWeb.class, "(org\\.eclipse\\.jetty\\.(ee10|io|server)|sun\\.nio\\.ch)\\.|" + PROBES, "HttpConnection::onFillable "),
                Arguments.of(NettyWeb.class, "(io\\.netty\\.(channel|handler\\.codec)|sun\\.nio\\.ch)\\.|" + PROBES, "ByteToMessageDecoder::channelRead "));
    }
}
