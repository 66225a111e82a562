package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.Guard;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.policy.Customer;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Clients whose hello is there before the server has come to accept them, as on a busy server. */
class HeardAtOnceTest {
    /** Of a server that serves one connection at a time: the others wait to be accepted. */
    private static final String ONE_AT_A_TIME = "maxConnections=1";

    private final AtomicReference<String> decidedOn = new AtomicReference<>("");

    /** A server that notes on which thread it decides. */
    private TestServer server(String options) throws Exception {
        var server = new TestServer(options, ChaosTest.TLS, ONE_AT_A_TIME);
        server.protocol().setGuardClassifier(new RequestClassifier() {
            @Override
            public Customer customer(InetAddress address, String serverName) {
                decidedOn.set(Thread.currentThread().getName());
                return Customer.SILVER;
            }
        });
        return server;
    }

    private void assertHeardAtOnce() {
        assertTrue(decidedOn.get().endsWith("-Acceptor"), () -> "decided on " + decidedOn.get());
    }

    /** Occupies the server until it is closed. */
    private static Socket occupy(TestServer server) throws Exception {
        long before = server.figures().getConnections();
        var first = new Socket("127.0.0.1", server.port());
        TestServer.until("it is accepted", () -> server.figures().getConnections() > before);
        return first;
    }

    @Test
    void who_is_refused_is_so_by_the_acceptor() throws Exception {
        try (var server = server(GuardedTomcatTest.ONE_NEW)) {
            var known = new TlsClient("TLSv1.3", server.port());
            assertTrue(known.served());
            byte[] hello = new TlsClient("TLSv1.3", server.port()).hello();
            try (var first = occupy(server); var second = new Socket("127.0.0.1", server.port())) {
                second.setSoTimeout(20_000);
                second.getOutputStream().write(hello);
                first.close();
                assertArrayEquals(Guard.ALERT, second.getInputStream().readAllBytes());
            }
            assertHeardAtOnce();
            assertEquals(1, server.figures().getRefusedNew());
            TestServer.until("all are gone", () -> ChaosTest.idle(server));
        }
    }

    @Test
    void who_is_let_in_is_served_to_the_end() throws Exception {
        try (var server = server(GuardedTomcatTest.ALL)) {
            var client = new TlsClient("TLSv1.3", server.port());
            byte[] hello = client.hello();
            try (var first = occupy(server); var second = new Socket("127.0.0.1", server.port())) {
                second.setSoTimeout(20_000);
                second.getOutputStream().write(hello);
                first.close();
                assertEquals(22, second.getInputStream().read(), "the record of a handshake");
            }
            assertHeardAtOnce();
            CompletableFuture<Boolean> served;
            try (var first = occupy(server)) {
                served = CompletableFuture.supplyAsync(client::served);
                Thread.sleep(200); // so that its hello is there, most likely
            }
            assertTrue(served.get(20, TimeUnit.SECONDS));
            TestServer.until("all are gone", () -> ChaosTest.idle(server));
            assertEquals(0, server.figures().getErrors());
        }
    }

    /** The rest of it comes by way of the poller, as ever. */
    @Test
    void half_a_hello_is_waited_for() throws Exception {
        try (var server = server(GuardedTomcatTest.ALL)) {
            byte[] hello = new TlsClient("TLSv1.3", server.port()).hello();
            try (var first = occupy(server); var second = new Socket("127.0.0.1", server.port())) {
                second.setSoTimeout(20_000);
                second.getOutputStream().write(hello, 0, 40);
                first.close();
                TestServer.until("its first half is read", () -> server.figures().getConnections() == 2 && server.endpoint().greetingCount() == 1);
                second.getOutputStream().write(hello, 40, hello.length - 40);
                assertEquals(22, second.getInputStream().read(), "the record of a handshake");
            }
            assertTrue(decidedOn.get().endsWith("-Poller"), () -> "decided on " + decidedOn.get());
        }
    }
}
