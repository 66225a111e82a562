package dev.loadline.threading.giop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class GiopTest {
    private static ByteBuffer read(byte[] bytes) throws IOException {
        return Message.read(new ByteArrayInputStream(bytes));
    }

    @Test
    void aRequestIsReadAsItWasWritten() throws Exception {
        for (int keyLength = 1; keyLength < 10; keyLength++) {
            ByteBuffer written = Message.request(new byte[keyLength], "work", 0, 0, 0);
            Message.number(written, 77, 1, -2, 3);
            Message.Request request = Message.request(read(written.array()));
            assertEquals(77, request.id());
            assertEquals("work", request.operation());
            assertEquals(0, request.arguments().position() % 8, "arguments are aligned to 8");
            assertEquals(1, request.arguments().getInt());
            assertEquals(-2, request.arguments().getInt());
            assertEquals(3, request.arguments().getInt());
            assertEquals(0, request.arguments().remaining());
        }
    }

    /** Reply 5, no exception, one service context of 3 bytes, result 42, in little-endian order; laid out by hand from CORBA 3.3. */
    @Test
    void aReplyWithServiceContextsInLittleEndianOrderIsRead() throws Exception {
        byte[] reply = HexFormat.of().parseHex("47494f50" + "01020101" + "20000000" + "05000000" + "00000000" + "01000000" + "09000000" + "03000000"
            + "aabbcc00" + "00000000" + "2a000000");
        ByteBuffer message = read(reply);
        assertEquals(ByteOrder.LITTLE_ENDIAN, message.order());
        assertEquals(42, Message.result(message, 5));
        assertThrows(IOException.class, () -> Message.result(read(reply), 6));
    }

    @Test
    void whatIsNoMessageIsRefused() throws Exception {
        byte[] good = Message.reply(1, 2);
        assertEquals(2, Message.result(read(good), 1));
        assertNull(read(new byte[0]));
        byte[] magic = good.clone();
        magic[0] = 'X';
        assertThrows(IOException.class, () -> read(magic));
        byte[] huge = good.clone();
        huge[8] = 0x7F;
        assertThrows(IOException.class, () -> read(huge));
        for (int length = 1; length < good.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(good, length);
            assertThrows(IOException.class, () -> read(cut), "cut to " + length);
        }
        byte[] exception = good.clone();
        exception[19] = 2;
        assertThrows(IOException.class, () -> Message.result(read(exception), 1));
    }

    /** Whatever the bytes after its header are, a request is read or refused by an exception of I/O. */
    @Test
    void aDamagedRequestIsReadOrRefused() throws Exception {
        var random = new java.util.Random(1);
        byte[] good = Message.request(new byte[] {1, 2, 3}, "work", 1, 2, 3).array();
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = good.clone();
            for (int n = random.nextInt(4); n >= 0; n--) {
                damaged[Message.HEADER + random.nextInt(damaged.length - Message.HEADER)] = (byte) random.nextInt();
            }
            try {
                Message.request(read(damaged));
            } catch (IOException e) {
                refused++;
            }
        }
        assertEquals(true, refused > 1_000, refused + " of 20,000 were refused");
    }

    @Test
    void anObjectReferenceIsReadAsItWasWritten() {
        var ior = new Ior("IDL:loadline/Work:1.0", "127.0.0.1", 65_000, new byte[] {0, -1, 7});
        Ior read = Ior.parse(ior.toString());
        assertEquals(ior.type(), read.type());
        assertEquals(ior.host(), read.host());
        assertEquals(65_000, read.port());
        assertArrayEquals(ior.key(), read.key());
        assertThrows(IllegalArgumentException.class, () -> Ior.parse("corbaloc::localhost/x"));
        assertThrows(IllegalArgumentException.class, () -> Ior.parse(ior.toString().substring(0, 60)));
    }
}
