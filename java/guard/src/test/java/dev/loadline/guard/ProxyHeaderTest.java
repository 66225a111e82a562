package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers as the specification has them, and bytes that are none. */
class ProxyHeaderTest {
    private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] binary(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    private static ProxyHeader read(byte[] bytes) throws WrongProxyHeader {
        return ProxyHeader.read(ByteBuffer.wrap(bytes));
    }

    private static String wrong(byte[] bytes) {
        return assertThrows(WrongProxyHeader.class, () -> read(bytes)).getMessage();
    }

    private static ProxyHeader header(int length, String client, int port) throws Exception {
        return new ProxyHeader(length, client == null ? null : InetAddress.getByName(client), port);
    }

    /** The specification's own example of version 1, and the longest line that it names. */
    @Test
    void version_1_is_a_line() throws Exception {
        assertEquals(header(47, "192.168.0.1", 56324), read(text("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\nGET / HTTP/1.1\r\n")));
        String longest = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        assertEquals(header(104, longest, 65535), read(text("PROXY TCP6 " + longest + " " + longest + " 65535 65535\r\n")));
        assertEquals(header(28, "::1", 1), read(text("PROXY TCP6 ::1 ::1 1 00000\r\n  ")));
        assertEquals(header(15, null, 0), read(text("PROXY UNKNOWN\r\n")));
        assertEquals(header(107, null, 0), read(text("PROXY UNKNOWN " + longest + " " + longest + " 65535 65535\r\n")));
    }

    @Test
    void version_2_is_binary() throws Exception {
        assertEquals(header(28, "203.0.113.7", 0xdead), read(binary(SIGNATURE + "2111000c" + "cb007107" + "7f000001" + "dead01bb")));
        assertEquals(header(52, "2001:db8::7", 443),
            read(binary(SIGNATURE + "21210024" + "20010db8000000000000000000000007" + "00000000000000000000000000000001" + "01bb01bb")));
        assertEquals(header(35, "203.0.113.7", 1), read(binary(SIGNATURE + "21110013" + "cb007107" + "7f000001" + "000101bb" + "04000400000000" + "1603")),
            "what is added to it is skipped, and what follows is not touched");
        assertEquals(header(16, null, 0), read(binary(SIGNATURE + "20000000")), "the proxy's own, a probe");
        assertEquals(header(28, null, 0), read(binary(SIGNATURE + "2011000c" + "cb007107" + "7f000001" + "dead01bb")), "its addresses mean nothing then");
        assertEquals(header(16, null, 0), read(binary(SIGNATURE + "21000000")), "not said");
        assertEquals(header(16 + 216, null, 0), read(binary(SIGNATURE + "213100d8" + "00".repeat(216))), "a Unix socket");
        assertEquals(header(28, null, 0), read(binary(SIGNATURE + "2112000c" + "cb007107" + "7f000001" + "dead01bb")), "datagrams");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PROXY TCP4 192.168.0.1 192.168.0.11 56324\r\n", "PROXY TCP4  192.168.0.1 192.168.0.11 56324 443\r\n",
        "PROXY TCP5 192.168.0.1 192.168.0.11 56324 443\r\n", "PROXY TCP4 192.168.0.256 192.168.0.11 56324 443\r\n",
        "PROXY TCP4 localhost 192.168.0.11 56324 443\r\n", "PROXY TCP4 ::1 ::1 56324 443\r\n", "PROXY TCP6 192.168.0.1 192.168.0.11 56324 443\r\n",
        "PROXY TCP6 fe80::1%lo ::1 1 1\r\n", "PROXY TCP4 192.168.0.1 192.168.0.11 65536 443\r\n", "PROXY TCP4 192.168.0.1 192.168.0.11 1 -1\r\n",
        "PROXY TCP4 192.168.0.1 nowhere 1 1\r\n", "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\n", "PROXY \r\n", "PROXY\r\n", "POST / HTTP/1.1\r\n", "\u0016\u0003\u0001"})
    void other_text_is_rejected(String line) {
        assertTrue(wrong(text(line)).matches("[ -~]+"), wrong(text(line)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0d0a0d0a000d0a515549540b", SIGNATURE + "3111000c", SIGNATURE + "2211000c", SIGNATURE + "2141000c", SIGNATURE + "2113000c",
        SIGNATURE + "2111000b", SIGNATURE + "21210023", SIGNATURE + "21111000", SIGNATURE + "2000ffff"})
    void other_bytes_are_rejected_as_soon_as_they_are_seen(String hex) {
        assertNotNull(wrong(binary(hex)));
    }

    @Test
    void what_is_wrong_is_said_without_what_a_terminal_would_obey() {
        assertEquals("'PROXY TCP4 ?[2J' is not PROXY TCP4 or TCP6, two addresses and two ports", wrong(text("PROXY TCP4 \u001b[2J\r\n")));
        assertEquals("it begins with the byte 22, as TLS does", wrong(new byte[] {22, 3, 1}));
        assertEquals("its line has no end within 107 bytes", wrong(text("PROXY TCP4 " + "1".repeat(96))));
        assertEquals("it is of 4112 bytes; 4096 are read at most", wrong(binary(SIGNATURE + "21111000")));
    }

    /** Whatever comes: it ends, it is bounded, and what is decided by some bytes stays when more come. */
    @Test
    void mutated_headers_are_read_without_fault_and_alike_however_they_are_cut() throws Exception {
        List<byte[]> good = List.of(text("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n"), text("PROXY TCP6 2001:db8::7 ::1 1 65535\r\n"),
            text("PROXY UNKNOWN\r\n"), binary(SIGNATURE + "2111000c" + "cb007107" + "7f000001" + "dead01bb"),
            binary(SIGNATURE + "21210024" + "20010db8000000000000000000000007" + "00000000000000000000000000000001" + "01bb01bb"),
            binary(SIGNATURE + "20000000"), binary(SIGNATURE + "21110013" + "cb007107" + "7f000001" + "000101bb" + "04000400000000"));
        var random = new Random(1);
        int[] outcomes = new int[3];
        for (int times = 0; times < 20_000; times++) {
            byte[] bytes = Arrays.copyOf(good.get(random.nextInt(good.size())), 70);
            for (int changes = random.nextInt(4); changes > 0; changes--) {
                int at = random.nextInt(60);
                bytes[at] = switch (random.nextInt(3)) {
                    case 0 -> (byte) (bytes[at] ^ 1 << random.nextInt(8));
                    case 1 -> (byte) random.nextInt(256);
                    default -> bytes[random.nextInt(60)];
                };
            }
            outcomes[check(bytes)]++;
        }
        assertTrue(Arrays.stream(outcomes).allMatch(n -> n > 100), "each outcome is reached: " + Arrays.toString(outcomes));
    }

    @Test
    void none_is_awaited_beyond_its_bound() {
        var random = new Random(2);
        for (int times = 0; times < 5_000; times++) {
            byte[] bytes = new byte[ProxyHeader.MOST_BYTES];
            random.nextBytes(bytes);
            byte[] begin = times % 2 == 0 ? text("PROXY ") : binary(SIGNATURE + "21");
            System.arraycopy(begin, 0, bytes, 0, begin.length);
            try {
                assertNotNull(read(bytes));
            } catch (WrongProxyHeader e) {
                assertNotNull(e.getMessage());
            }
        }
    }

    /** @return 0: not whole, 1: a header, 2: none */
    private static int check(byte[] bytes) {
        var said = new ArrayList<Object>();
        for (int length = 0; length <= bytes.length; length++) {
            Object now;
            try {
                now = read(Arrays.copyOf(bytes, length));
            } catch (WrongProxyHeader e) {
                now = e.getClass();
            }
            if (now instanceof ProxyHeader header) {
                assertTrue(header.length() <= length, header + " of " + length + " bytes");
                assertTrue(header.client() != null || header.port() == 0);
            }
            Object last = said.isEmpty() ? null : said.get(said.size() - 1);
            if (last != null) {
                assertEquals(last, now, "after " + length + " bytes of " + Arrays.toString(bytes));
            } else {
                assertTrue(length > 0 || now == null);
            }
            said.add(now);
        }
        Object end = said.get(bytes.length);
        return end == null ? 0 : end instanceof ProxyHeader ? 1 : 2;
    }

    @Test
    void a_buffer_is_left_as_it_was() throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(text("xxPROXY UNKNOWN\r\nyy")).position(2);
        assertEquals(15, ProxyHeader.read(bytes).length());
        assertEquals(2, bytes.position());
        assertNull(ProxyHeader.read(ByteBuffer.allocate(0)));
    }
}
