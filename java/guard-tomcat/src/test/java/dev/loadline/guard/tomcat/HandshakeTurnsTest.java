package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.Loadline;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Full handshakes that wait for each other, in a real Tomcat. */
class HandshakeTurnsTest {
    /** Room for five new connections a second, of which half a second's may come at once. */
    private static final String FEW_NEW = "cpus=1; fullCost=200ms; resumedCost=1ms";

    /** Knocks with new clients until one is refused. */
    private static void untilRefused(TestServer server) throws Exception {
        for (int i = 0; i < 50 && new TlsClient("TLSv1.3", server.port()).served(); i++) { }
        assertTrue(server.figures().isRefusing());
    }

    @Test
    void a_full_handshake_waits_for_its_turn() throws Exception {
        try (var server = new TestServer("cpus=1", ChaosTest.TLS); var pool = new Pool(8)) {
            var turns = server.protocol().guard().turns();
            var held = turns.turn(0, () -> { });
            assertTrue(held.enter());
            var served = new AtomicInteger();
            TestServer.until("one is let in, and waits", () -> {
                pool.execute(() -> served.addAndGet(new TlsClient("TLSv1.3", server.port()).served() ? 1 : 0));
                return server.figures().getHandshakesWaiting() > 0;
            });
            assertEquals(0, served.get());
            held.over();
            TestServer.until("its turn has come", () -> served.get() > 0);
            TestServer.until("nobody waits", () -> turns.waiting() + turns.computing() == 0);
        }
    }

    /** By the key that the recorder has for connections, so that an analysis can tell who made it wait. */
    @Test
    void a_wait_for_a_turn_is_in_a_recording_of_loadline() throws Exception {
        try (var server = new TestServer("cpus=1", ChaosTest.TLS); var pool = new Pool(1)) {
            var held = server.protocol().guard().turns().turn(0, () -> { });
            assertTrue(held.enter());
            Loadline.TOLD.clear();
            pool.execute(() -> new TlsClient("TLSv1.3", server.port()).served());
            TestServer.until("it waits", () -> server.figures().getHandshakesWaiting() == 1);
            int key = System.identityHashCode(server.endpoint().getConnections().iterator().next());
            assertEquals(List.of("guard handshake waits " + key), Loadline.TOLD);
            held.over();
            assertEquals(List.of("guard handshake waits " + key, "guard handshake goes on " + key), Loadline.TOLD);
        }
    }

    @Test
    void who_vanishes_while_it_waits_for_its_turn_does_not_take_it() throws Exception {
        try (var server = new TestServer(FEW_NEW, ChaosTest.TLS)) {
            byte[] hello = new TlsClient("TLSv1.3", server.port()).hello();
            untilRefused(server);
            var turns = server.protocol().guard().turns();
            var held = turns.turn(0, () -> { });
            assertTrue(held.enter());
            TestServer.until("one is let in, and waits", () -> {
                try (var socket = new Socket("127.0.0.1", server.port())) {
                    socket.setSoLinger(true, 0);
                    socket.getOutputStream().write(hello);
                    socket.setSoTimeout(20);
                    socket.getInputStream().read();
                } catch (IOException e) {
                    // refused, or nothing came within 20 ms
                }
                return server.figures().getHandshakesWaiting() > 0;
            });
            held.over();
            TestServer.until("nobody waits", () -> turns.waiting() + turns.computing() == 0);
            TestServer.until("all are gone", () -> ChaosTest.idle(server));
            TestServer.until("nothing is under way", () -> server.figures().getEventsUnderWay() == 0);
        }
    }

    @Test
    void who_waits_for_its_turn_when_the_connector_stops_is_closed() throws Exception {
        try (var server = new TestServer("cpus=1", ChaosTest.TLS)) {
            byte[] hello = new TlsClient("TLSv1.3", server.port()).hello();
            assertTrue(server.protocol().guard().turns().turn(0, () -> { }).enter());
            try (var socket = new Socket("127.0.0.1", server.port())) {
                socket.setSoTimeout(20_000);
                socket.getOutputStream().write(hello);
                TestServer.until("it waits", () -> server.figures().getHandshakesWaiting() == 1);
                server.restart();
                assertEquals(-1, socket.getInputStream().read());
            }
        }
    }

    @Test
    void where_another_machine_signs_handshakes_do_not_wait_for_each_other_long() throws Exception {
        int clients = 64;
        try (var signing = new SlowSigning(100); var server = new TestServer("cpus=1", ChaosTest.TLS); var pool = new Pool(clients)) {
            var served = new AtomicInteger();
            for (int i = 0; i < clients; i++) {
                pool.execute(() -> served.addAndGet(new TlsClient("TLSv1.3", server.port()).served() ? 1 : 0));
            }
            TestServer.until("all are served", () -> served.get() == clients);
            assertTrue(signing.mostAtATime() >= 4, "at a time: " + signing.mostAtATime());
            assertEquals(0, server.figures().getErrors());
        }
    }

    /** Threads for clients that wait. */
    private static final class Pool implements AutoCloseable {
        private final ExecutorService threads;

        Pool(int size) {
            threads = Executors.newFixedThreadPool(size);
        }

        interface Task {
            void run() throws Exception;
        }

        void execute(Task task) {
            threads.execute(() -> {
                try {
                    task.run();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }
}
