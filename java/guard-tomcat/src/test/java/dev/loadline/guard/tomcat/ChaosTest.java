package dev.loadline.guard.tomcat;

import static dev.loadline.guard.tomcat.GuardedTomcatTest.ALL;
import static dev.loadline.guard.tomcat.GuardedTomcatTest.ONE_NEW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Clients that do what they should not, and administrators who do what they must. */
class ChaosTest {
    static final String TLS = "TLSv1.2+TLSv1.3";

    static boolean idle(TestServer server) {
        return server.figures().getOpenConnections() == 0 && server.endpoint().greetingCount() == 0
            && server.figures().getEventsUnderWay() == 0;
    }

    @Test
    void clients_that_vanish_in_mid_handshake_leave_nothing_behind() throws Exception {
        try (var server = new TestServer(ALL, TLS)) {
            byte[] hello = new TlsClient("TLSv1.3", server.port()).hello();
            for (int i = 0; i < 50; i++) {
                try (var socket = new Socket("127.0.0.1", server.port())) {
                    socket.getOutputStream().write(hello, 0, i % 2 == 0 ? hello.length : hello.length / 2);
                    if (i % 4 < 2) {
                        socket.setSoLinger(true, 0); // a reset in place of an orderly end
                    }
                }
            }
            TestServer.until("all are gone", () -> idle(server));
            assertEquals(0, server.figures().getErrors());
            assertTrue(new TlsClient("TLSv1.3", server.port()).served());
        }
    }

    @Test
    void a_client_that_is_slow_to_say_hello_is_closed_and_counted() throws Exception {
        try (var server = new TestServer(ALL + "; helloTimeout=500ms", TLS)) {
            var silent = new ArrayList<Socket>();
            for (int i = 0; i < 20; i++) {
                var socket = new Socket("127.0.0.1", server.port());
                if (i % 2 == 0) {
                    socket.getOutputStream().write(new byte[] {22, 3, 1, 1});
                }
                silent.add(socket);
            }
            TestServer.until("all are closed", () -> server.figures().getRefusedSlowHellos() == 20);
            TestServer.until("all are gone", () -> idle(server));
            for (Socket socket : silent) {
                socket.setSoTimeout(20_000);
                assertEquals(-1, socket.getInputStream().read());
                socket.close();
            }
            assertTrue(new TlsClient("TLSv1.3", server.port()).served());
        }
    }

    /** What was counted as under way then stayed so for ever, and in the end nobody was let in any more. */
    @Test
    void bytes_of_a_hello_that_come_while_it_is_closed_for_being_slow_leave_nothing_behind() throws Exception {
        try (var server = new TestServer(ALL + "; helloTimeout=300ms", TLS)) {
            byte[] hello = new TlsClient("TLSv1.3", server.port()).hello();
            for (int round = 0; round < 3; round++) {
                var slow = new ArrayList<Socket>();
                for (int i = 0; i < 200; i++) {
                    slow.add(new Socket("127.0.0.1", server.port()));
                }
                for (int at = 0; !slow.isEmpty(); at++) {
                    byte next = hello[Math.min(at, hello.length / 2)];
                    slow.removeIf(socket -> !send(socket, next));
                    Thread.sleep(5);
                }
                TestServer.until("all are gone", () -> idle(server));
            }
            assertEquals(600, server.figures().getRefusedSlowHellos());
            assertTrue(new TlsClient("TLSv1.3", server.port()).served());
        }
    }

    /** Whether somebody is still there to send it to. */
    private static boolean send(Socket socket, byte next) {
        try {
            socket.getOutputStream().write(next);
            return true;
        } catch (IOException e) {
            try {
                socket.close();
            } catch (IOException ignored) {
                // it is gone either way
            }
            return false;
        }
    }

    @Test
    void garbage_is_closed_and_counted() throws Exception {
        try (var server = new TestServer(ALL, TLS)) {
            assertEquals(0, TlsClient.raw(server.port(), new byte[] {5, 4, 3, 2, 1, 0}).length);
            assertEquals(0, TlsClient.raw(server.port(), new byte[] {22, 3, 1, 0, 4, 2, 0, 0, 0}).length);
            assertEquals(2, server.figures().getRefusedNotTls());
            TestServer.until("all are gone", () -> idle(server));
        }
    }

    @Test
    void who_speaks_plain_http_gets_tomcats_hint() throws Exception {
        try (var server = new TestServer(ALL, TLS)) {
            byte[] answer = TlsClient.raw(server.port(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertTrue(new String(answer, StandardCharsets.US_ASCII).startsWith("HTTP/1.1 400"));
        }
    }

    @Test
    void half_open_connections_are_outlived() throws Exception {
        try (var server = new TestServer(ALL, TLS); var socket = new TlsClient("TLSv1.3", server.port()).connect()) {
            socket.startHandshake();
            socket.shutdownOutput();
            TestServer.until("closed", () -> idle(server));
            assertTrue(new TlsClient("TLSv1.3", server.port()).served());
        }
    }

    @Test
    void after_a_reload_of_the_certificate_those_who_resume_are_new() throws Exception {
        try (var server = new TestServer(ALL, TLS)) {
            var known = new TlsClient("TLSv1.3", server.port());
            assertTrue(known.served());
            server.endpoint().reloadSslHostConfigs();
            assertTrue(known.served());
            assertEquals(0, server.figures().getResumedHandshakes());
            assertEquals(1, server.figures().getBadClaims());
            assertTrue(known.served());
            assertEquals(1, server.figures().getResumedHandshakes());
        }
    }

    @Test
    void after_a_reload_without_budget_stale_tickets_are_refused() throws Exception {
        try (var server = new TestServer(ONE_NEW, TLS)) {
            var known = new TlsClient("TLSv1.3", server.port());
            assertTrue(known.served());
            server.endpoint().reloadSslHostConfigs();
            assertFalse(known.served());
            assertEquals(1, server.figures().getRefusedBadClaims());
        }
    }

    @Test
    void a_reload_under_load_breaks_nobody() throws Exception {
        try (var server = new TestServer(ALL, TLS)) {
            var stop = new AtomicBoolean();
            var served = new AtomicInteger();
            var refused = new AtomicInteger();
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 4; i++) {
                String version = i % 2 == 0 ? "TLSv1.2" : "TLSv1.3";
                var client = new TlsClient(version, server.port());
                var thread = new Thread(() -> {
                    while (!stop.get()) {
                        (client.served() ? served : refused).incrementAndGet();
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (int i = 0; i < 5; i++) {
                int before = served.get();
                TestServer.until("some are served", () -> served.get() > before + 5);
                server.endpoint().reloadSslHostConfigs();
            }
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(0, refused.get());
            assertEquals(0, server.figures().getErrors());
            TestServer.until("all are gone", () -> idle(server));
        }
    }

    @Test
    void keep_alive_serves_many_requests_on_one_admission() throws Exception {
        try (var server = new TestServer(ONE_NEW, TLS); var socket = new TlsClient("TLSv1.3", server.port()).connect()) {
            for (int i = 0; i < 20; i++) {
                assertTrue(TlsClient.get(socket, "/page" + i, false).endsWith("hello /page" + i));
            }
            assertEquals(20, server.figures().getRequests());
            assertEquals(1, server.figures().getFullHandshakes());
        }
    }
}
