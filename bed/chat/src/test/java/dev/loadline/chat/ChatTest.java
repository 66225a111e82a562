package dev.loadline.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.bed.KeyStoreFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ChatTest {
    private static final Client.Plan PLAN = new Client.Plan(3, 5, 4, 30, 0, 40, 1);

    private static InetSocketAddress local(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @ParameterizedTest
    @CsvSource({"THREADS,THREADS,false", "NIO,NIO,false", "VIRTUAL,VIRTUAL,false", "THREADS,NIO,false", "NIO,VIRTUAL,false",
        "THREADS,THREADS,true", "NIO,NIO,true", "NIO,THREADS,true", "VIRTUAL,NIO,true"})
    void everyMessageReachesAllOthersOfTheRoomInOrder(Transport.Kind server, Transport.Kind client, boolean tls) throws Exception {
        boolean virtual = server == Transport.Kind.VIRTUAL || client == Transport.Kind.VIRTUAL;
        assumeTrue(!virtual || Runtime.version().feature() >= 21, "virtual threads need JDK 21");
        var chat = new Server();
        try (Transport listening = Transport.of(server, 2, tls ? Tls.server(KeyStoreFile.Key.EC) : null, "server");
             Transport talking = Transport.of(client, 2, tls ? Tls.client() : null, "user")) {
            int port = listening.listen(0, chat::newUser);
            Client.Result result = Client.run(talking, local(port), PLAN);
            assertEquals(3 * 5 * 30, result.said());
            assertEquals(3 * 5 * 30 * 4, result.deliveries().getTotalCount());
            assertEquals(3 * 5 * 34, chat.broadcasts());
            assertEquals(3 * 5 * 34 * 4, chat.deliveries());
        }
    }

    @Test
    void usersWhoThinkAreServedToo() throws Exception {
        var chat = new Server();
        try (Transport listening = Transport.of(Transport.Kind.NIO, 1, null, "server");
             Transport talking = Transport.of(Transport.Kind.NIO, 1, null, "user")) {
            int port = listening.listen(0, chat::newUser);
            Client.Result result = Client.run(talking, local(port), new Client.Plan(1, 4, 0, 10, 0.02, 40, 1));
            assertEquals(40, result.said());
            assertTrue(result.seconds() > 0.05, "took " + result.seconds() + " s");
        }
    }

    @ParameterizedTest
    @CsvSource({"THREADS", "NIO"})
    void aServerThatGoesAwayIsAFailure(Transport.Kind kind) throws Exception {
        var chat = new Server();
        try (Transport talking = Transport.of(kind, 1, null, "user")) {
            Transport listening = Transport.of(kind, 1, null, "server");
            int port = listening.listen(0, chat::newUser);
            var closing = new Thread(() -> {
                try {
                    Thread.sleep(300);
                    listening.close();
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            closing.start();
            assertThrows(IOException.class, () -> Client.run(talking, local(port), new Client.Plan(1, 4, 0, 1_000_000, 0, 40, 1)));
            closing.join();
        }
    }

    @ParameterizedTest
    @CsvSource({"THREADS", "NIO"})
    void whoSendsNonsenseIsSentAwayAndTheOthersTalkOn(Transport.Kind kind) throws Exception {
        var chat = new Server();
        try (Transport listening = Transport.of(kind, 1, null, "server"); Transport talking = Transport.of(kind, 1, null, "user")) {
            int port = listening.listen(0, chat::newUser);
            for (byte[] nonsense : new byte[][] {{0, 0}, {0, 1, 99}, {0, 1, 2}, {0, 5, 0, 1, 2, 3, 4}, Frame.receipt(1).bytes()}) {
                try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.setSoTimeout(10_000);
                    socket.getOutputStream().write(nonsense);
                    assertEquals(-1, socket.getInputStream().read(), "the connection stays open");
                }
            }
            assertEquals(450, Client.run(talking, local(port), PLAN).said());
        }
    }

    @Test
    void framesAreReadWholeHoweverTheyArrive() throws Exception {
        Frame said = Frame.say(7, 42, "grüß dich");
        ByteBuffer arriving = ByteBuffer.allocate(100);
        for (int i = 0; i < said.bytes().length; i++) {
            assertNull(Frame.read(arriving.duplicate().flip()), "after " + i + " bytes");
            arriving.put(said.bytes()[i]);
        }
        Frame read = Frame.read(arriving.flip());
        assertNotNull(read);
        assertEquals(Frame.Type.SAY, read.type());
        assertEquals(7, read.body().getInt());
        assertEquals(0, arriving.remaining());
        ByteBuffer heard = Frame.heard(3, read).body();
        assertEquals(3, heard.getInt());
        assertEquals(7, heard.getInt());
        assertEquals(42, heard.getLong());
    }

    @Test
    void aFrameThatIsTooLongIsRefusedWhereItIsMade() {
        assertThrows(IllegalArgumentException.class, () -> Frame.say(1, 1, "x".repeat(70_000)));
    }
}
