package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Grpc;
import dev.loadline.agent.programs.JettyWeb;
import dev.loadline.agent.testing.HttpsClient;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import dev.loadline.agent.testing.WebTarget;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** gRPC, on both sides. */
class GrpcIT {
    @ParameterizedTest
    @EnumSource(names = {"START", "REDEFINE"})
    void a_call_is_a_request_of_the_server_and_a_call_of_the_client(Way way) throws Exception {
        try (Target target = Target.start(Grpc.class, way.options()); TestRecorder recorder = way.recorder()) {
            String service = "grpc://127.0.0.1:" + target.tell("port");
            Spool spool = ofTwoCalls(target, recorder);
            assertEquals(List.of(service, service), spool.of(Type.CALL_BEGIN).stream().map(Event::c).toList());
            assertEquals(2, spool.of(Type.CALL_END).size());
            assertEquals(List.of(200L, 404L), spool.of(Type.STATUS).stream().map(Event::b).toList());
            Event first = spool.of(Type.REQUEST).get(0);
            Event service20 = spool.of(Type.SERVICE_BEGIN).stream().filter(e -> e.ts() > first.ts()).findFirst().orElseThrow();
            assertEquals("shop.Stock/Ask", service20.c());
            assertEquals(spool.of(Type.SERVICE_BEGIN).size(), spool.of(Type.SERVICE_END).size());
        }
    }

    /** Of one that is answered and one that is not found; what each way tells of them. */
    private static Spool ofTwoCalls(Target target, TestRecorder recorder) throws Exception {
        assertEquals("early", target.tell("early"));
        recorder.record(target.pid());
        assertEquals("pears", target.tell("pears"));
        assertEquals("NOT_FOUND", target.tell("nothing"));
        Thread.sleep(200); // the transport is done with the last
        Spool spool = recorder.stop();
        assertEquals("", spool.message);
        assertEquals(List.of("POST /shop.Stock/Ask", "POST /shop.Stock/Ask"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
        assertEquals(2, spool.of(Type.REQUEST_END).size());
        assertEquals(2, spool.of(Type.CONN_CLOSE).size(), "each a connection of its own");
        assertTrue(spool.of(Type.REQUEST_END).get(0).ts() - spool.of(Type.REQUEST).get(0).ts() >= 20_000_000);
        return spool;
    }

    /** Its Netty lies in another package. */
    @Test
    void hooks_hear_calls_where_their_streams_are() throws Exception {
        try (Target target = Target.start(Grpc.class); TestRecorder recorder = Way.HOOKS.recorder()) {
            Spool spool = ofTwoCalls(target, recorder);
            assertEquals(List.of(200L, 200L, 404L), spool.of(Type.STATUS).stream().map(Event::b).toList(), "of the first before and behind its body");
            assertTrue(spool.info.contains("\"unseen\": [\"sql\", \"calls\", \"pools\", \"netty-tasks\"]"), spool.info);
            assertEquals("pears", target.tell("pears"));
        }
    }

    @Test
    void one_whose_answer_comes_to_another_thread_ends_with_that() throws Exception {
        Way way = Way.START;
        try (Target target = Target.start(Grpc.class, way.options()); TestRecorder recorder = way.recorder()) {
            String service = "grpc://127.0.0.1:" + target.tell("port");
            assertEquals("early", target.tell("early"));
            recorder.record(target.pid());
            assertEquals("pears", target.tell("future pears"));
            assertEquals("apples", target.tell("apples"));
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            List<Event> begins = spool.of(Type.CALL_BEGIN);
            assertEquals(List.of(service, service), begins.stream().map(Event::c).toList());
            assertTrue(begins.get(0).a() != 0 && begins.get(1).a() == 0, "a number for that which nobody waits for: " + begins);
            Event end = spool.of(Type.CALL_END).get(0);
            assertEquals(begins.get(0).a(), end.a());
            assertTrue(end.ts() - begins.get(0).ts() >= 20_000_000);
        }
    }

    @Test
    void one_in_the_midst_of_a_request_is_a_part_of_that() throws Exception {
        Way way = Way.START;
        try (Target target = WebTarget.start(JettyWeb.class, "TLSv1.3", way.options()); TestRecorder recorder = way.recorder()) {
            int port = Integer.parseInt(target.tell("start"));
            recorder.record(target.pid());
            HttpsClient client = new HttpsClient(HttpsClient.newContext(), port);
            assertEquals(200, client.get("/nearby"));
            client.close();
            Thread.sleep(200); // the server is done with it
            Spool spool = recorder.stop();
            assertEquals(List.of("GET /nearby"), spool.of(Type.REQUEST).stream().map(Event::c).toList());
            assertEquals(1, spool.of(Type.CALL_BEGIN).size());
            assertEquals(1, spool.of(Type.CONN_OPEN).size());
            assertEquals(1, spool.of(Type.REQUEST_END).size());
            assertEquals(List.of(200L), spool.of(Type.STATUS).stream().map(Event::b).toList());
        }
    }
}
