package dev.loadline.guard.tomcat;

import static dev.loadline.guard.tomcat.GuardedTomcatTest.ALL;
import static dev.loadline.guard.tomcat.GuardedTomcatTest.ONE_NEW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.Mode;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.RequestView;
import dev.loadline.guard.policy.Customer;
import dev.loadline.guard.policy.Priority;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.net.ssl.SSLException;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.tomcat.util.net.openssl.OpenSSLStatus;
import org.junit.jupiter.api.Test;

/** Modes, exemptions, what the refused see, and what happens when the guard itself fails. */
class ModesTest {
    private static final String TLS = "TLSv1.2+TLSv1.3";

    private static TlsClient stranger(TestServer server) throws Exception {
        return new TlsClient("TLSv1.3", server.port());
    }

    @Test
    void observing_decides_and_counts_and_lets_everyone_in() throws Exception {
        try (var server = new TestServer(ONE_NEW + "; mode=observe", TLS)) {
            for (int i = 0; i < 4; i++) {
                assertTrue(stranger(server).served());
            }
            assertEquals(3, server.figures().getRefusedNew());
            assertTrue(server.figures().isRefusing());
        }
    }

    private static Handler into(List<String> said) {
        return new Handler() {
            @Override
            public void publish(LogRecord entry) {
                said.add(entry.getMessage());
            }

            @Override
            public void flush() {
            }

            @Override
            public void close() {
            }
        };
    }

    /** As after Tomcat's listener found the library: Tomcat gives OpenSSL to a connector that names no implementation. */
    @Test
    void that_openssl_is_not_used_is_said_in_the_log() throws Exception {
        List<String> said = new CopyOnWriteArrayList<>();
        var log = Logger.getLogger("loadline-guard");
        var handler = into(said);
        log.addHandler(handler);
        try {
            try (var server = new TestServer(ALL, TLS)) {
                assertTrue(stranger(server).served());
            }
            assertEquals(0, said.stream().filter(s -> s.contains("OpenSSL")).count(), "there is none");
            OpenSSLStatus.setUseOpenSSL(true);
            OpenSSLStatus.setAvailable(true);
            try (var server = new TestServer(ALL, TLS)) {
                assertTrue(stranger(server).served());
            }
            assertEquals(1, said.stream().filter(s -> s.contains("uses JSSE, where Tomcat would have taken OpenSSL")).count());
        } finally {
            OpenSSLStatus.setAvailable(false);
            log.removeHandler(handler);
        }
    }

    @Test
    void a_connector_that_takes_no_more_connections_is_said_in_the_log() throws Exception {
        List<String> said = new CopyOnWriteArrayList<>();
        var log = Logger.getLogger("loadline-guard");
        var handler = into(said);
        log.addHandler(handler);
        try (var server = new TestServer(ALL, TLS, "maxConnections=3"); var one = new Socket("127.0.0.1", server.port());
             var two = new Socket("127.0.0.1", server.port())) {
            TestServer.until("two are open", () -> server.figures().getOpenConnections() == 2);
            Thread.sleep(600); // two ticks
            assertEquals(0, said.stream().filter(s -> s.contains("maxConnections")).count());
            try (var three = new Socket("127.0.0.1", server.port())) {
                TestServer.until("it is said", () -> said.stream().anyMatch(s -> s.contains("3 connections are open")));
                Thread.sleep(600);
            }
            assertEquals(1, said.stream().filter(s -> s.contains("maxConnections")).count(), "once a minute is enough");
        } finally {
            log.removeHandler(handler);
        }
    }

    @Test
    void the_mode_is_switched_at_run_time_through_jmx() throws Exception {
        try (var server = new TestServer(ONE_NEW + "; mode=observe", TLS)) {
            assertTrue(stranger(server).served());
            assertTrue(stranger(server).served());
            MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = beans.queryNames(new ObjectName("dev.loadline:type=Guard,*"), null).iterator().next();
            beans.setAttribute(name, new Attribute("Mode", "enforce"));
            assertFalse(stranger(server).served());
            beans.setAttribute(name, new Attribute("Mode", "off"));
            long counted = (Long) beans.getAttribute(name, "Connections");
            assertTrue(stranger(server).served());
            assertEquals(counted, beans.getAttribute(name, "Connections"), "off looks at nobody");
            assertEquals("off", beans.getAttribute(name, "Mode"));
            assertThrows(Exception.class, () -> beans.setAttribute(name, new Attribute("Mode", "on")));
        }
    }

    /** Who waits for a turn or was about to be refused goes on; who was let in notices nothing. */
    @Test
    void switched_off_under_load_the_server_serves_everybody_as_without_a_guard() throws Exception {
        try (var server = new TestServer("cpus=1; fullCost=200ms; resumedCost=1us; probeShare=0", TLS)) {
            var stop = new AtomicBoolean();
            var off = new AtomicBoolean();
            var served = new AtomicInteger();
            var refusedWhileOff = new AtomicInteger();
            var brokenSessions = new AtomicInteger();
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 6; i++) {
                var thread = new Thread(() -> {
                    while (!stop.get()) {
                        boolean wasOff = off.get();
                        boolean begun = false;
                        try (var socket = stranger(server).connect()) {
                            begun = TlsClient.get(socket, "/1", false).startsWith("HTTP/1.1 200");
                            TlsClient.get(socket, "/2", false);
                            served.incrementAndGet();
                        } catch (Exception e) {
                            (begun ? brokenSessions : refusedWhileOff).addAndGet(begun || wasOff ? 1 : 0);
                        }
                    }
                });
                thread.start();
                threads.add(thread);
            }
            TestServer.until("it refuses", () -> server.figures().getRefusedNew() > 20);
            server.protocol().guard().mode(Mode.OFF);
            off.set(true);
            int before = served.get();
            TestServer.until("many are served", () -> served.get() > before + 100);
            long looked = server.figures().getConnections();
            int then = served.get();
            TestServer.until("more are served", () -> served.get() > then + 50);
            assertEquals(looked, server.figures().getConnections(), "nobody is looked at");
            assertEquals(0, server.figures().getHandshakesWaiting());
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            server.protocol().guard().mode(Mode.ENFORCE);
            stranger(server).served();
            assertEquals(looked + 1, server.figures().getConnections(), "it looks again");
            assertEquals(0, brokenSessions.get());
            assertEquals(0, refusedWhileOff.get());
            assertEquals(0, server.figures().getErrors());
        }
    }

    @Test
    void the_bean_is_gone_with_the_connector() throws Exception {
        new TestServer(ALL, TLS).close();
        assertEquals(0, ManagementFactory.getPlatformMBeanServer()
            .queryNames(new ObjectName("dev.loadline:type=Guard,*"), null).size());
    }

    @Test
    void exempt_addresses_always_pass() throws Exception {
        try (var server = new TestServer(ONE_NEW + "; exempt=127.0.0.0/8", TLS)) {
            for (int i = 0; i < 3; i++) {
                assertTrue(stranger(server).served());
            }
            assertEquals(3, server.figures().getExempted());
        }
    }

    @Test
    void a_refused_client_may_be_shown_a_page() throws Exception {
        try (var server = new TestServer(ONE_NEW.replace("cpus=1", "cpus=64") + "; refuse=page; pageShare=1; retryAfter=7s", TLS)) {
            assertTrue(stranger(server).served());
            TestServer.until("a budget for pages", () -> {
                try {
                    String answer = stranger(server).get("/");
                    return answer.startsWith("HTTP/1.1 503") && answer.contains("Retry-After: 7") && answer.contains("busy");
                } catch (Exception e) {
                    return false;
                }
            });
            assertTrue(server.figures().getPages() >= 1);
        }
    }

    /** docs/guard.md has these words. */
    @Test
    void a_refused_java_client_has_an_exception_that_says_so() throws Exception {
        try (var server = new TestServer(ONE_NEW, TLS)) {
            assertTrue(stranger(server).served());
            String said = assertThrows(SSLException.class, () -> stranger(server).get("/")).getMessage();
            assertTrue(said.endsWith("Received fatal alert: internal_error"), said);
        }
        try (var server = new TestServer(ONE_NEW + "; refuse=close", TLS)) {
            assertTrue(stranger(server).served());
            assertEquals("Remote host terminated the handshake", assertThrows(SSLException.class, () -> stranger(server).get("/")).getMessage());
        }
    }

    @Test
    void closing_says_nothing() throws Exception {
        try (var server = new TestServer(ONE_NEW + "; refuse=close", TLS)) {
            assertTrue(stranger(server).served());
            assertEquals(0, TlsClient.raw(server.port(), stranger(server).hello()).length);
        }
    }

    @Test
    void an_error_inside_the_guard_lets_in_and_is_counted() throws Exception {
        try (var server = new TestServer(ONE_NEW, TLS)) {
            server.protocol().setGuardClassifier(new RequestClassifier() {
                @Override
                public Customer customer(InetAddress address, String serverName) {
                    throw new NoSuchMethodError("a fault of the classifier");
                }
            });
            for (int i = 0; i < 3; i++) {
                assertTrue(stranger(server).served());
            }
            assertEquals(3, server.figures().getErrors());
            assertEquals(0, server.figures().getRefusedNew());
        }
    }

    @Test
    void when_the_guards_thread_has_ended_everybody_is_admitted() throws Exception {
        try (var server = new TestServer(ONE_NEW, TLS)) {
            assertTrue(stranger(server).served());
            assertFalse(stranger(server).served());
            dev.loadline.guard.InsideForTest.endThread(server.protocol().guard());
            TestServer.until("it is noticed", () -> server.figures().isStalled());
            for (int i = 0; i < 5; i++) {
                assertTrue(stranger(server).served());
            }
            assertEquals(0, server.figures().getHandshakesWaiting());
        }
    }

    @Test
    void with_engines_that_cannot_be_restricted_a_claim_needs_the_budget_of_a_new_connection() throws Exception {
        String otherJsse = "sslImplementationName=org.apache.tomcat.util.net.jsse.JSSEImplementation";
        try (var server = new TestServer(ONE_NEW, TLS, otherJsse)) {
            var known = stranger(server);
            assertTrue(known.served());
            assertFalse(known.served());
            assertEquals(1, server.figures().getRefusedClaims());
        }
        try (var server = new TestServer(ALL, TLS, otherJsse)) {
            var known = stranger(server);
            assertTrue(known.served());
            assertTrue(known.served());
            assertEquals(1, server.figures().getResumedHandshakes());
        }
    }

    @Test
    void a_request_is_shed_with_status_and_retry_after() throws Exception {
        try (var server = new TestServer(ALL + "; low=/search/**; retryAfter=3s", TLS);
             var socket = stranger(server).connect()) {
            assertTrue(TlsClient.get(socket, "/search/1", false).startsWith("HTTP/1.1 200"));
            server.protocol().setGuardClassifier(new RequestClassifier() {
                @Override
                public Priority priority(RequestView request, Priority byPattern) {
                    assertEquals("GET", request.method());
                    assertEquals("localhost", request.header("Host"));
                    return byPattern;
                }
            });
            dev.loadline.guard.InsideForTest.level(server.protocol().guard(), 1);
            String answer = TlsClient.get(socket, "/search/2?q=x", false);
            assertTrue(answer.startsWith("HTTP/1.1 503"), answer);
            assertTrue(answer.contains("Retry-After: 3"), answer);
            // Tomcat closes a connection after a 503.
            assertEquals(-1, socket.getInputStream().read());
            assertTrue(stranger(server).get("/item").startsWith("HTTP/1.1 200"));
            assertEquals(1, server.figures().getShedRequests());
            assertEquals(0, server.figures().getErrors());
        }
    }

    @Test
    void a_wrong_option_is_said_where_the_connector_is_configured() {
        var connector = new Connector(GuardedHttp11Protocol.class.getName());
        var protocol = (GuardedHttp11Protocol) connector.getProtocolHandler();
        assertThrows(IllegalArgumentException.class, () -> protocol.setGuard("mode=on"));
    }

    /** Tomcat logs what a setter throws and goes on: whoever asked for mode=observ would get a guard that refuses. */
    @Test
    void a_connector_with_a_wrong_option_does_not_start() {
        var refused = assertThrows(LifecycleException.class, () -> new TestServer("mode=observ", TLS).close());
        assertTrue(causes(refused).contains("mode is 'observ'"), causes(refused));
    }

    private static String causes(Throwable e) {
        return e == null ? "" : e.getMessage() + "\n" + causes(e.getCause());
    }

    @Test
    void a_connector_may_be_stopped_and_started_again() throws Exception {
        try (var server = new TestServer(ALL, TLS)) {
            assertTrue(stranger(server).served());
            server.restart();
            assertTrue(stranger(server).served());
            assertEquals(1, server.figures().getFullHandshakes(), "a new guard counts anew");
        }
    }

    @Test
    void a_server_without_tls_13_takes_session_ids_for_claims() throws Exception {
        try (var server = new TestServer(ONE_NEW, "TLSv1.2")) {
            var known = new TlsClient("TLSv1.2", server.port());
            assertTrue(known.served());
            assertTrue(known.served());
            assertEquals(1, server.figures().getResumedHandshakes());
            assertFalse(new TlsClient("TLSv1.2", server.port()).served());
        }
    }
}
