package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.JettyWeb;
import dev.loadline.agent.programs.NettyWeb;
import dev.loadline.agent.programs.UndertowWeb;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How many connections and workers there may be, in the pools and servers that say so. */
class LimitsIT {
    private static final int TOMCATS_DEFAULT = 200;
    private static final int OF_PROGRAM = 2;

    @ParameterizedTest
    @CsvSource({"START, 10", "START, 11", "HOOKS, 10", "HOOKS, 11"})
    void a_tomcat_and_its_pool_say_what_they_are_configured_for(Way way, int version) throws Exception {
        try (Target target = WebTarget.start(version, "Nio", "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, client.get("/items"));
            client.close();
            Thread.sleep(700); // a hook says which pool it is in with the first tick
            Spool spool = recorder.stop();
            assertEquals(Map.of("shop", OF_PROGRAM), told(spool, Type.POOL_LIMIT));
            assertEquals(TOMCATS_DEFAULT, ofThreads(spool, "https-jsse-nio-"));
        }
    }

    @Test
    void other_servers_say_how_many_workers_they_may_have() throws Exception {
        String[] agent = Way.START.options();
        try (Target jetty = WebTarget.start(JettyWeb.class, "TLSv1.3", agent)) {
            assertEquals(16, workers(jetty, "https", "qtp"));
        }
        try (Target undertow = Target.start(UndertowWeb.class, agent)) {
            assertEquals(8 * Math.max(2, Runtime.getRuntime().availableProcessors()), workers(undertow, "http", "XNIO-1 task-"));
        }
        try (Target netty = WebTarget.start(NettyWeb.class, "TLSv1.3", agent)) {
            assertEquals(OF_PROGRAM, workers(netty, "https", "multiThreadIoEventLoopGroup-"));
        }
    }

    /** How many threads may have a name that begins so. */
    private static int workers(Target target, String scheme, String prefix) throws Exception {
        try (TestRecorder recorder = Way.START.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpClient client = HttpClient.newBuilder().sslContext(HttpsClient.newContext()).build();
            for (String path : new String[] {"/hello", "/worker"}) {
                HttpRequest request = HttpRequest.newBuilder(URI.create(scheme + "://localhost:" + port + path)).build();
                client.send(request, HttpResponse.BodyHandlers.discarding());
            }
            return ofThreads(recorder.stop(), prefix);
        }
    }

    private static int ofThreads(Spool spool, String prefix) {
        Map<String, Integer> told = told(spool, Type.THREADS_LIMIT);
        return told.entrySet().stream().filter(e -> e.getKey().startsWith(prefix)).findFirst()
                .orElseThrow(() -> new AssertionError(prefix + " is none of " + told)).getValue();
    }

    private static Map<String, Integer> told(Spool spool, int type) {
        Map<String, Integer> told = new TreeMap<>();
        for (Event event : spool.of(type)) {
            told.put(event.c(), (int) event.a());
        }
        return told;
    }
}
