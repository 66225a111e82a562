package dev.loadline.guard.hello;

import static dev.loadline.guard.hello.HelloBytes.fill;
import static dev.loadline.guard.hello.HelloBytes.join;
import static dev.loadline.guard.hello.HelloBytes.tls12;
import static dev.loadline.guard.hello.HelloBytes.tls13;
import static dev.loadline.guard.hello.HelloBytes.vector16;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.hello.ClientHelloReader.Status;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClientHelloReaderTest {
    private final ClientHelloReader reader = new ClientHelloReader();

    private ClientHello hello(HelloBytes bytes) {
        assertEquals(Status.HELLO, reader.feed(ByteBuffer.wrap(bytes.wire())), () -> "refused: " + reader.notTls());
        return reader.hello();
    }

    private NotTls refused(byte[] bytes) {
        assertEquals(Status.NOT_TLS, reader.feed(ByteBuffer.wrap(bytes)));
        assertNull(reader.hello());
        return reader.notTls();
    }

    // ---- what a client claims

    @Test
    void a_compatibility_session_id_is_no_claim_where_tls13_is_spoken() {
        ClientHello h = hello(tls13());
        assertEquals(Kind.NEW, h.kind());
        assertNull(h.claim());
    }

    @Test
    void the_same_id_may_be_one_of_a_server_that_has_only_tls12() {
        assertEquals(Kind.CLAIMS_SESSION_ID, hello(tls13()).kind(false));
    }

    @Test
    void a_tls12_session_id_is_a_claim() {
        ClientHello h = hello(tls12().id(fill(32, 5)));
        assertEquals(Kind.CLAIMS_SESSION_ID, h.kind());
        assertArrayEquals(fill(32, 5), h.claim());
    }

    @Test
    void a_ticket_goes_before_the_id_made_up_beside_it() {
        ClientHello h = hello(tls12().id(fill(32, 5)).extension(HelloBytes.TICKET, fill(180, 6)));
        assertEquals(Kind.CLAIMS_TICKET, h.kind());
        assertArrayEquals(fill(180, 6), h.claim());
    }

    @Test
    void an_empty_ticket_extension_claims_nothing() {
        assertEquals(Kind.NEW, hello(tls12().extension(HelloBytes.TICKET, new byte[0])).kind());
    }

    @Test
    void a_tls12_ticket_is_no_claim_when_tls13_will_be_spoken() {
        ClientHello h = hello(tls13().extension(HelloBytes.TICKET, fill(100, 6)));
        assertEquals(Kind.NEW, h.kind());
        assertEquals(Kind.CLAIMS_TICKET, h.kind(false));
    }

    @Test
    void a_pre_shared_key_is_a_claim_and_its_first_identity_is_what_it_rests_on() {
        ClientHello h = hello(tls13().psk(3, 200, 3, 32));
        assertEquals(Kind.CLAIMS_PSK, h.kind());
        assertEquals(3, h.pskIdentities());
        assertArrayEquals(fill(200, 0x40), h.claim());
    }

    @Test
    void a_pre_shared_key_without_tls13_on_offer_is_unknown_to_the_server() {
        assertEquals(Kind.NEW, hello(tls12().psk(1, 100, 1, 32)).kind());
    }

    @Test
    void early_data_is_seen() {
        assertTrue(hello(tls13().extension(HelloBytes.EARLY_DATA, new byte[0]).psk(1, 100, 1, 48)).earlyData());
    }

    @Test
    void a_hello_without_extensions_is_new() {
        assertEquals(Kind.NEW, hello(tls12().version(0x0301).withoutExtensions()).kind());
    }

    @Test
    void a_version_list_without_tls13_offers_none() {
        ClientHello h = hello(tls12().id(fill(32, 1)).extension(HelloBytes.VERSIONS, new byte[] {4, 0x1a, 0x1a, 3, 3}));
        assertEquals(Kind.CLAIMS_SESSION_ID, h.kind());
    }

    @Test
    void grease_changes_nothing() {
        ClientHello h = hello(tls12().suites(new byte[] {0x2a, 0x2a, 0x13, 1}).extension(0x0a0a, new byte[0])
            .extension(HelloBytes.VERSIONS, new byte[] {6, 0x3a, 0x3a, 3, 4, 3, 3}).extension(0xfafa, new byte[] {0}));
        assertTrue(h.tls13Offered());
        assertEquals(Kind.NEW, h.kind());
    }

    @Test
    void server_name_and_protocols_are_read() {
        ClientHello h = hello(tls13().sni("shop.example").extension(HelloBytes.ALPN, vector16("\2h2\10http/1.1".getBytes(US_ASCII))));
        assertEquals("shop.example", h.sni());
        assertEquals(List.of("h2", "http/1.1"), h.alpn());
    }

    // ---- how the bytes come

    @Test
    void a_key_share_larger_than_a_segment_is_no_matter() {
        assertEquals(Kind.NEW, hello(tls13().extension(HelloBytes.KEY_SHARE, fill(1_300, 3))).kind());
    }

    @Test
    void a_hello_longer_than_a_record_is_read() {
        byte[] message = tls13().extension(21, fill(20_000, 0)).psk(1, 300, 1, 32).message();
        assertEquals(Status.HELLO, reader.feed(ByteBuffer.wrap(HelloBytes.records(message, 16_384))));
        assertEquals(2, reader.hello().records());
        assertEquals(Kind.CLAIMS_PSK, reader.hello().kind());
    }

    @Test
    void a_record_may_end_inside_the_messages_header() {
        byte[] message = tls12().id(fill(16, 2)).message();
        assertEquals(Status.HELLO, reader.feed(ByteBuffer.wrap(join(HelloBytes.record(new byte[] {1, 0}),
            HelloBytes.record(java.util.Arrays.copyOfRange(message, 2, message.length))))));
        assertEquals(Kind.CLAIMS_SESSION_ID, reader.hello().kind());
    }

    @Test
    void what_follows_the_hello_is_left_in_the_buffer() {
        var in = ByteBuffer.wrap(join(tls13().wire(), fill(9, 4)));
        assertEquals(Status.HELLO, reader.feed(in));
        assertEquals(9, in.remaining());
        assertEquals(Status.HELLO, reader.feed(in), "an answer is final");
        assertEquals(9, in.remaining());
    }

    @Test
    void what_was_taken_can_be_handed_on_as_it_came() {
        byte[] wire = HelloBytes.records(tls13().sni("a.example").message(), 40);
        reader.feed(ByteBuffer.wrap(wire));
        byte[] taken = new byte[reader.taken().remaining()];
        reader.taken().get(taken);
        assertArrayEquals(wire, taken);
    }

    @Test
    void peeking_leaves_the_buffer_and_begins_anew() {
        var in = ByteBuffer.allocateDirect(1_000);
        byte[] wire = tls12().wire();
        in.put(wire, 0, 20).flip();
        assertEquals(Status.NEED_MORE, reader.peek(in));
        assertEquals(20, in.remaining());
        in.compact().put(wire, 20, wire.length - 20).flip();
        assertEquals(Status.HELLO, reader.peek(in));
        assertEquals(wire.length, in.remaining());
    }

    @Test
    void a_reader_can_be_used_again() {
        refused(new byte[] {0});
        reader.reset();
        assertEquals(Kind.NEW, hello(tls12()).kind());
    }

    // ---- what is no hello

    @Test
    void plain_http_is_told_from_garbage() {
        assertEquals(NotTls.PLAIN_HTTP, refused("GET / HTTP/1.1\r\n".getBytes(US_ASCII)));
        reader.reset();
        assertEquals(NotTls.GARBAGE, refused("Gibberish ".getBytes(US_ASCII)));
        reader.reset();
        assertEquals(NotTls.GARBAGE, refused("AAAAAAAAAAAAAAAAAAAAAAAA".getBytes(US_ASCII)));
    }

    @Test
    void an_ssl2_hello_is_named() {
        assertEquals(NotTls.SSLV2_HELLO, refused(new byte[] {(byte) 0x80, 0x2e, 1, 3, 1, 0, 21}));
    }

    @Test
    void other_records_are_no_hello() {
        assertEquals(NotTls.NOT_HANDSHAKE, refused(new byte[] {21, 3, 3, 0, 2, 1, 0}));
        reader.reset();
        assertEquals(NotTls.NOT_CLIENT_HELLO, refused(HelloBytes.record(new byte[] {2, 0, 0, 4, 0, 0, 0, 0})));
    }

    @Test
    void another_record_type_inside_the_hello_is_refused() {
        byte[] begun = HelloBytes.record(java.util.Arrays.copyOf(tls12().message(), 30));
        assertEquals(NotTls.NOT_HANDSHAKE, refused(join(begun, new byte[] {23, 3, 3, 0, 1, 0})));
    }

    @Test
    void impossible_records_are_refused() {
        assertEquals(NotTls.EMPTY_RECORD, refused(new byte[] {22, 3, 1, 0, 0}));
        reader.reset();
        assertEquals(NotTls.RECORD_TOO_LONG, refused(new byte[] {22, 3, 1, 0x40, 1}));
        reader.reset();
        assertEquals(NotTls.GARBAGE, refused(new byte[] {22, 7, 1, 0, 1}));
    }

    @Test
    void an_extension_sent_twice_is_refused() {
        assertEquals(NotTls.DUPLICATE_EXTENSION, refused(tls13().sni("a").sni("b").wire()));
    }

    @Test
    void a_pre_shared_key_that_is_not_last_is_refused() {
        assertEquals(NotTls.PSK_NOT_LAST, refused(tls13().psk(1, 100, 1, 32).extension(21, fill(8, 0)).wire()));
    }

    @Test
    void binders_that_are_missing_or_too_few_or_too_short_are_refused() {
        for (HelloBytes h : List.of(tls13().psk(1, 100, 0, 32), tls13().psk(2, 100, 1, 32), tls13().psk(1, 100, 1, 31),
            tls13().extension(HelloBytes.PSK, vector16(join(vector16(fill(10, 1)), new byte[4]))))) {
            reader.reset();
            assertEquals(NotTls.BAD_BINDERS, refused(h.wire()));
        }
    }

    @Test
    void lengths_that_lie_are_refused() {
        byte[] good = tls12().id(fill(32, 1)).sni("a.example").message();
        // Session id, cipher suites, compression, all extensions, one extension, name list, name.
        int[] lengthAt = {4 + 34, 4 + 34 + 33 + 1, 4 + 34 + 33 + 6, 4 + 34 + 33 + 8 + 1, 4 + 34 + 33 + 8 + 5, 4 + 34 + 33 + 8 + 7, 4 + 34 + 33 + 8 + 10};
        for (int at : lengthAt) {
            for (int by : new int[] {-1, 1, 90}) {
                byte[] bad = good.clone();
                bad[at] += by;
                reader.reset();
                assertEquals(NotTls.MALFORMED, refused(HelloBytes.record(bad)), "byte " + at + " changed by " + by);
            }
        }
    }

    // ---- limits

    @Test
    void a_hello_beyond_the_limit_is_refused_by_its_header_alone() {
        assertEquals(NotTls.TOO_LONG, refused(HelloBytes.record(new byte[] {1, 0, (byte) 0x80, 0})));
    }

    @Test
    void an_announced_length_takes_no_memory() {
        reader.feed(ByteBuffer.wrap(new byte[] {22, 3, 1, 0x40, 0, 1, 0, 0x7f, 0}));
        assertTrue(reader.held() <= 2_048, "holds " + reader.held());
    }

    @Test
    void memory_is_bounded_by_the_limit() {
        byte[] message = tls13().extension(21, fill(32_000, 0)).message();
        assertEquals(Status.HELLO, reader.feed(ByteBuffer.wrap(HelloBytes.records(message, 512))));
        assertTrue(reader.held() <= ClientHelloReader.DEFAULT_MAX_BYTES + 5 * (ClientHelloReader.MAX_RECORDS + 1));
        reader.reset();
        assertTrue(reader.held() <= 4_096, "a reset gives large buffers back");
    }

    @Test
    void too_many_records_are_refused() {
        assertEquals(NotTls.TOO_MANY_RECORDS, refused(HelloBytes.records(tls12().extension(21, fill(100, 0)).message(), 2)));
    }

    @Test
    void too_many_extensions_are_refused() {
        HelloBytes many = tls12();
        for (int i = 0; i < 129; i++) {
            many.extension(1_000 + i, new byte[0]);
        }
        assertEquals(NotTls.TOO_MANY_EXTENSIONS, refused(many.wire()));
    }
}
