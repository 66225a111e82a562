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
    private static final int TIMES = 20;
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
            long guarded = eventsOfHandshakes(server, version);
            server.figures().setMode("off");
            long unguarded = eventsOfHandshakes(server, version);
            assertTrue(guarded <= unguarded - 2 * TIMES, () -> guarded + " events, without it " + unguarded);
        }
    }

    /** Of those that go on to a request each, whose own one is among them. How many one takes differs by one: records of a client may come together. */
    private static long eventsOfHandshakes(TestServer server, String version) throws Exception {
        var pool = (WorkerPool) server.endpoint().getExecutor();
        long events = 0;
        for (int i = 0; i < TIMES; i++) {
            long before = pool.getCompletedTaskCount();
            try (var socket = new TlsClient(version, server.port()).connect()) {
                TlsClient.get(socket, "/", false);
                TestServer.until("its workers are done", () -> idle(pool));
                events += pool.getCompletedTaskCount() - before;
            }
            TestServer.until("it is gone", () -> server.endpoint().getConnections().isEmpty() && idle(pool));
        }
        return events;
    }

    /** Whether all of its tasks are counted: a worker counts one after it was taken from those submitted, and is active until then. */
    private static boolean idle(WorkerPool pool) {
        return pool.getSubmittedCount() == 0 && pool.getActiveCount() == 0;
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
