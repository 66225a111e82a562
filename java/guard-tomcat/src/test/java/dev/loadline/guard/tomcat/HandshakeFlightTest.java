package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the server says in a handshake, and how many events that takes. */
class HandshakeFlightTest {
    private static final int HANDSHAKE = 22;
    private static final int CHANGE_CIPHER_SPEC = 20;
    private static final int ENCRYPTED = 23;

    @Test
    void the_records_of_a_flight_come_at_once() throws Exception {
        try (var server = new TestServer(GuardedTomcatTest.ALL, ChaosTest.TLS); var socket = new Socket("127.0.0.1", server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(new TlsClient("TLSv1.3", server.port()).hello());
            byte[] first = new byte[65_536];
            int length = socket.getInputStream().read(first);
            List<Integer> records = new ArrayList<>();
            ByteBuffer read = ByteBuffer.wrap(first, 0, length);
            while (read.remaining() > 5) {
                records.add((int) read.get());
                read.getShort();
                read.position(read.getShort() + read.position());
            }
            assertEquals(0, read.remaining(), "whole records");
            assertEquals(List.of(HANDSHAKE, CHANGE_CIPHER_SPEC, ENCRYPTED), records.stream().distinct().toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void it_takes_fewer_events_than_without_the_guard(String version) throws Exception {
        try (var server = new TestServer(GuardedTomcatTest.ALL, ChaosTest.TLS)) {
            long guarded = eventsOfHandshake(server, version);
            server.figures().setMode("off");
            long unguarded = eventsOfHandshake(server, version);
            assertTrue(guarded <= unguarded - 2, () -> guarded + " events, without it " + unguarded);
        }
    }

    /** Of one that goes on to a request, whose own one is among them; of several the least, since a client's records may come one by one. */
    private static long eventsOfHandshake(TestServer server, String version) throws Exception {
        var pool = (WorkerPool) server.endpoint().getExecutor();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            long before = pool.getCompletedTaskCount();
            try (var socket = new TlsClient(version, server.port()).connect()) {
                TlsClient.get(socket, "/", false);
                TestServer.until("its worker is done", () -> pool.getSubmittedCount() == 0);
                least = Math.min(least, pool.getCompletedTaskCount() - before);
            }
            TestServer.until("it is gone", () -> server.endpoint().getConnections().isEmpty() && pool.getSubmittedCount() == 0);
        }
        return least;
    }

    /** Its certificate alone does not fit the buffer of a channel. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void a_flight_may_be_longer_than_a_record(String version) throws Exception {
        String names = IntStream.range(0, 900).mapToObj(i -> String.format("dns:host-%04d.of.a.large.shop", i)).collect(Collectors.joining(","));
        String keys = "keys=" + TestServer.keyStore(version + ".p12", names);
        try (var server = new TestServer(GuardedTomcatTest.ALL, ChaosTest.TLS, keys)) {
            var client = new TlsClient(version, server.port());
            for (int i = 0; i < 3; i++) {
                assertTrue(client.served());
            }
            TestServer.until("all are gone", () -> ChaosTest.idle(server));
            assertEquals(0, server.figures().getErrors());
        }
    }
}
