package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.Guard;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that are new, resumed and forged, with and without budget. */
class GuardedTomcatTest {
    /** One new connection empties such a budget for as long as a test lasts; those who resume always fit. */
    static final String ONE_NEW = "cpus=1; fullCost=80000s; resumedCost=1us; probeShare=0";
    static final String ALL = "cpus=1000; fullCost=1us; resumedCost=1us";

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void with_budget_everyone_is_served_and_told_apart(String version) throws Exception {
        try (var server = new TestServer(ALL, "TLSv1.2+TLSv1.3")) {
            var client = new TlsClient(version, server.port());
            assertTrue(client.served());
            assertTrue(client.served());
            assertTrue(new TlsClient(version, server.port()).served());
            TestServer.until("connections closed", () -> server.figures().getOpenConnections() == 0);
            assertEquals(2, server.figures().getFullHandshakes());
            assertEquals(1, server.figures().getResumedHandshakes());
            assertEquals(1, server.figures().getClaims());
            assertEquals(0, server.figures().getErrors());
            assertEquals(3, server.figures().getRequests());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void without_budget_new_clients_are_refused_and_known_ones_served(String version) throws Exception {
        try (var server = new TestServer(ONE_NEW, "TLSv1.2+TLSv1.3")) {
            var known = new TlsClient(version, server.port());
            assertTrue(known.served());
            assertFalse(new TlsClient(version, server.port()).served());
            for (int i = 0; i < 5; i++) {
                assertTrue(known.served());
            }
            assertFalse(new TlsClient(version, server.port()).served());
            assertEquals(1, server.figures().getFullHandshakes());
            assertEquals(5, server.figures().getResumedHandshakes());
            assertEquals(2, server.figures().getRefusedNew());
            assertEquals(0, server.figures().getErrors());
            assertTrue(server.figures().isRefusing());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void a_forged_claim_without_budget_gets_an_alert(String version) throws Exception {
        try (var server = new TestServer(ONE_NEW, "TLSv1.2+TLSv1.3")) {
            var known = new TlsClient(version, server.port());
            assertTrue(known.served());
            byte[] honest = known.hello();
            assertArrayEquals(Guard.ALERT, TlsClient.raw(server.port(), forge(honest)));
            TestServer.until("closed", () -> server.figures().getOpenConnections() == 0);
            assertEquals(1, server.figures().getFullHandshakes());
            assertEquals(1, server.figures().getBadClaims());
            assertEquals(1, server.figures().getRefusedBadClaims());
            assertEquals(22, TlsClient.firstBytes(server.port(), honest, 1)[0], "an honest claim still gets a ServerHello");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void a_session_kept_by_the_server_is_told_apart_too(String version) throws Exception {
        String property = "jdk.tls.server.enableSessionTicketExtension";
        System.setProperty(property, "false");
        try (var server = new TestServer(ONE_NEW, "TLSv1.2+TLSv1.3")) {
            var known = new TlsClient(version, server.port());
            assertTrue(known.served());
            assertTrue(known.served());
            assertFalse(new TlsClient(version, server.port()).served());
            assertEquals(1, server.figures().getResumedHandshakes());
        } finally {
            System.clearProperty(property);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void a_hello_may_come_a_byte_at_a_time_and_waits_on_no_worker(String version) throws Exception {
        try (var server = new TestServer(ONE_NEW + "; refuse=alert", "TLSv1.2+TLSv1.3")) {
            assertTrue(new TlsClient(version, server.port()).served());
            byte[] hello = new TlsClient(version, server.port()).hello();
            try (var socket = new java.net.Socket("127.0.0.1", server.port())) {
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(20_000);
                for (byte b : hello) {
                    socket.getOutputStream().write(b);
                    socket.getOutputStream().flush();
                }
                assertArrayEquals(Guard.ALERT, socket.getInputStream().readNBytes(7));
            }
            assertEquals(1, server.figures().getRefusedNew());
        }
    }

    @Test
    void a_jdk_clients_random_session_id_is_no_claim() throws Exception {
        try (var server = new TestServer(ALL, "TLSv1.2+TLSv1.3")) {
            assertTrue(new TlsClient("TLSv1.3", server.port()).served());
            assertEquals(0, server.figures().getClaims());
        }
    }

    @Test
    void a_hello_longer_than_the_buffer_is_served() throws Exception {
        try (var server = new TestServer(ALL, "TLSv1.2+TLSv1.3")) {
            byte[] hello = new TlsClient("TLSv1.3", server.port()).hello();
            byte[] answer = TlsClient.firstBytes(server.port(), padded(hello, 16_000 - hello.length), 3); // as long as a record may be, nearly
            assertEquals(22, answer[0], "a ServerHello, not an alert: " + Arrays.toString(answer));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 9_000, 20_000})
    void a_hello_over_several_records_is_served_and_told_apart(int padding) throws Exception {
        byte[] cut;
        try (var server = new TestServer(ALL, "TLSv1.2+TLSv1.3")) {
            byte[] hello = padded(new TlsClient("TLSv1.3", server.port()).hello(), padding);
            cut = records(hello, hello.length / 3);
            assertArrayEquals(new byte[] {22}, TlsClient.firstBytes(server.port(), cut, 1), "a ServerHello");
            assertEquals(0, server.figures().getErrors());
        }
        try (var server = new TestServer(ONE_NEW, "TLSv1.2+TLSv1.3")) {
            assertTrue(new TlsClient("TLSv1.3", server.port()).served());
            assertArrayEquals(Guard.ALERT, TlsClient.raw(server.port(), cut));
            assertEquals(1, server.figures().getRefusedNew());
        }
    }

    /** The same message in records of so many bytes. */
    static byte[] records(byte[] hello, int size) {
        var out = new java.io.ByteArrayOutputStream();
        for (int at = 5; at < hello.length; at += size) {
            int length = Math.min(size, hello.length - at);
            out.write(hello, 0, 3);
            out.write(length >> 8);
            out.write(length);
            out.write(hello, at, length);
        }
        return out.toByteArray();
    }

    /** Flips a bit in what a claim rests on: ticket or identity is the last long part before its end. */
    static byte[] forge(byte[] hello) {
        var reader = new dev.loadline.guard.hello.ClientHelloReader();
        reader.feed(java.nio.ByteBuffer.wrap(hello));
        byte[] claim = reader.hello().claim();
        for (int at = 0; at + claim.length <= hello.length; at++) {
            if (Arrays.equals(hello, at, at + claim.length, claim, 0, claim.length)) {
                byte[] forged = hello.clone();
                forged[at + claim.length / 2] ^= 1;
                return forged;
            }
        }
        throw new AssertionError("the hello does not hold its claim");
    }

    /** The hello with a padding extension (RFC 7685) of so many bytes. */
    static byte[] padded(byte[] hello, int padding) {
        int extensions = 5 + 4 + 2 + 32;
        extensions += 1 + hello[extensions];
        extensions += 2 + ((hello[extensions] & 0xff) << 8 | hello[extensions + 1] & 0xff);
        extensions += 1 + hello[extensions];
        byte[] more = Arrays.copyOf(hello, hello.length + 4 + padding);
        more[hello.length + 1] = 21;
        put(more, hello.length + 2, 2, padding);
        put(more, extensions, 2, more.length - extensions - 2);
        put(more, 6, 3, more.length - 9);
        put(more, 3, 2, more.length - 5);
        return more;
    }

    private static void put(byte[] to, int at, int bytes, int value) {
        for (int i = 0; i < bytes; i++) {
            to[at + i] = (byte) (value >> 8 * (bytes - 1 - i));
        }
    }
}
