package dev.loadline.guard.tomcat;

import static dev.loadline.guard.tomcat.GuardedTomcatTest.ALL;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.Guard;
import dev.loadline.guard.InsideForTest;
import dev.loadline.guard.Mode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.catalina.LifecycleException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A TCP load balancer before a real Tomcat, which says by the PROXY protocol whose a connection is. */
class ProxyProtocolTest {
    private static final String TLS = ChaosTest.TLS;
    private static final String REQUIRED = "; trustedProxies=127.0.0.1; proxyProtocol=required";
    private static final byte[] SIGNATURE = {13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10};

    private static byte[] v1(String client) {
        return ("PROXY TCP4 " + client + " 127.0.0.1 4711 443\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** @param client null: the proxy's own */
    private static byte[] v2(String client) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(28).put(SIGNATURE).put((byte) (client == null ? 0x20 : 0x21)).put((byte) 0x11).putShort((short) 12);
        header.put(InetAddress.getByName(client == null ? "0.0.0.0" : client).getAddress()).put(new byte[] {127, 0, 0, 1});
        return header.putShort((short) 4711).putShort((short) 443).array();
    }

    private static byte[] joined(byte[] header, byte[] hello) {
        return ByteBuffer.allocate(header.length + hello.length).put(header).put(hello).array();
    }

    private static TlsClient client(TestServer server) throws Exception {
        return new TlsClient("TLSv1.3", server.port());
    }

    @Test
    void the_application_sees_the_client_in_every_mode() throws Exception {
        try (var server = new TestServer(ALL + REQUIRED, TLS, "http2=")) {
            for (Mode mode : Mode.values()) {
                server.protocol().guard().mode(mode);
                long looked = server.figures().getConnections();
                assertTrue(client(server).behind(v1("203.0.113.7")).get("/who").endsWith("203.0.113.7 4711 hello /who"), mode.toString());
                assertTrue(client(server).behind(v2("203.0.113.8")).get("/who").endsWith("203.0.113.8 4711 hello /who"), mode.toString());
                String own = client(server).behind(v2(null)).get("/who");
                assertTrue(own.contains("127.0.0.1 ") && !own.contains(" 4711"), own);
                assertEquals(mode == Mode.OFF ? looked : looked + 3, server.figures().getConnections(), "off looks at nobody");
            }
            TestServer.until("all are gone", () -> ChaosTest.idle(server));
            assertEquals(0, server.figures().getErrors());
        }
    }

    /** What is known of addresses is known of clients, though all come from one. */
    @Test
    void bars_and_exemptions_go_by_the_client() throws Exception {
        try (var server = new TestServer("fullCost=80000s; cpus=1; resumedCost=1us; probeShare=0; badClaims=1; exempt=203.0.113.9" + REQUIRED, TLS)) {
            var one = client(server).behind(v2("203.0.113.5"));
            var neighbour = client(server).behind(v2("203.0.113.6"));
            assertTrue(one.served() && neighbour.served());
            byte[] honest = one.hello();
            TlsClient.firstBytes(server.port(), joined(v2("203.0.113.5"), GuardedTomcatTest.forge(honest)), 1);
            TestServer.until("it is seen to be gone", () -> server.figures().getVanished() == 1 && server.figures().getOpenConnections() == 0);
            InsideForTest.makeBusy(server.protocol().guard());
            assertFalse(client(server).behind(v2("203.0.113.4")).served());
            assertArrayEquals(Guard.ALERT, TlsClient.raw(server.port(), joined(v1("203.0.113.5"), honest)));
            assertEquals(1, server.figures().getRefusedAddresses());
            assertTrue(neighbour.served(), "it is not barred");
            assertEquals(1, server.figures().getResumedHandshakes());
            assertTrue(client(server).behind(v1("203.0.113.9")).served());
            assertEquals(1, server.figures().getExempted());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"enforce", "off"})
    void it_may_come_a_byte_at_a_time(String mode) throws Exception {
        try (var server = new TestServer(ALL + REQUIRED + "; mode=" + mode, TLS)) {
            for (byte[] header : new byte[][] {v1("203.0.113.7"), v2("203.0.113.7")}) {
                try (var socket = new Socket("127.0.0.1", server.port())) {
                    socket.setTcpNoDelay(true);
                    socket.setSoTimeout(20_000);
                    for (byte b : joined(header, client(server).hello())) {
                        socket.getOutputStream().write(b);
                    }
                    assertEquals(22, socket.getInputStream().read(), "a ServerHello");
                }
            }
        }
    }

    @Test
    void only_trusted_proxies_are_believed_and_they_must_say_it() throws Exception {
        try (var server = new TestServer(ALL + REQUIRED, TLS)) {
            assertFalse(client(server).served(), "a proxy that says nothing");
            TestServer.until("it counts", () -> server.figures().getRefusedNotTls() == 1);
            assertTrue(client(server).from("127.0.0.2").get("/who").contains("127.0.0.2"), "others speak TLS at once");
            assertThrows(IOException.class, () -> client(server).from("127.0.0.2").behind(v2("203.0.113.7")).get("/who"));
            assertEquals(2, server.figures().getRefusedNotTls());
            assertThrows(IOException.class, () -> client(server).from("127.0.0.2").behind(v1("203.0.113.7")).get("/who"));
        }
        try (var server = new TestServer(ALL + REQUIRED.replace("required", "optional"), TLS)) {
            assertTrue(client(server).get("/who").contains("127.0.0.1"), "its own probe");
            assertTrue(client(server).behind(v1("203.0.113.7")).get("/who").contains("203.0.113.7"));
            assertThrows(IOException.class, () -> client(server).behind("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)).get("/"));
        }
    }

    @Test
    void who_is_slow_to_say_it_or_vanishes_leaves_nothing_behind() throws Exception {
        try (var server = new TestServer(ALL + REQUIRED + "; helloTimeout=300ms", TLS)) {
            for (int i = 0; i < 20; i++) {
                try (var socket = new Socket("127.0.0.1", server.port())) {
                    socket.getOutputStream().write(v2("203.0.113.7"), 0, i);
                    if (i % 2 == 0) {
                        socket.setSoLinger(true, 0); // a reset in place of an orderly end
                    }
                }
            }
            try (var slow = new Socket("127.0.0.1", server.port())) {
                slow.setSoTimeout(20_000);
                slow.getOutputStream().write(v1("203.0.113.7"), 0, 12);
                assertEquals(-1, slow.getInputStream().read());
            }
            TestServer.until("it counts", () -> server.figures().getRefusedSlowHellos() == 1);
            TestServer.until("all are gone", () -> ChaosTest.idle(server) && server.endpoint().getConnections().isEmpty());
            assertTrue(client(server).behind(v1("203.0.113.7")).served());
            assertEquals(0, server.figures().getErrors());
        }
    }

    @Test
    void a_connector_without_tls_that_is_to_read_it_does_not_start() {
        assertThrows(LifecycleException.class, () -> new TestServer(ALL + REQUIRED, TLS, "SSLEnabled=false").close());
    }
}
