package dev.loadline.guard.hello;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Hellos of OpenSSL, curl, Chromium, JSSE and rustls, whose kind is known from what JSSE did with them. */
class CapturedHellosTest {

    static List<Corpus> captured() {
        return Corpus.captured();
    }

    static List<Corpus> all() {
        var all = new java.util.ArrayList<>(Corpus.captured());
        all.addAll(Corpus.fuzzed());
        return all;
    }

    @Test
    void every_client_and_every_way_to_resume_is_there() {
        for (String name : List.of("openssl", "curl", "chromium", "jsse17", "jsse25", "rustls")) {
            for (String way : List.of("tls13-new", "tls13-resuming", "tls12-id-new", "tls12-id-resuming")) {
                assertTrue(captured().stream().anyMatch(c -> c.name().equals(name + "-" + way)), name + "-" + way);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("captured")
    void is_classified_as_the_client_meant_it(Corpus c) {
        var reader = new ClientHelloReader();
        assertEquals(ClientHelloReader.Status.HELLO, reader.feed(ByteBuffer.wrap(c.bytes())));
        assertEquals(c.expected(), reader.hello().kind());
        assertEquals(c.bytes().length, reader.hello().bytes());
        assertEquals(c.name().contains("tls13"), reader.hello().tls13Offered());
        assertEquals(c.expected().claims(), reader.hello().claim() != null);
    }

    @ParameterizedTest
    @MethodSource("all")
    void one_byte_at_a_time_gives_the_same(Corpus c) {
        var reader = new ClientHelloReader();
        for (byte b : c.bytes()) {
            reader.feed(ByteBuffer.wrap(new byte[] {b}));
        }
        assertEquals(Outcome.ofWhole(c.bytes()), Outcome.of(reader));
    }

    @ParameterizedTest
    @MethodSource("all")
    void a_cut_at_any_byte_gives_the_same(Corpus c) {
        Outcome whole = Outcome.ofWhole(c.bytes());
        var reader = new ClientHelloReader();
        for (int cut = 0; cut <= c.bytes().length; cut++) {
            reader.reset();
            reader.feed(ByteBuffer.wrap(c.bytes(), 0, cut));
            reader.feed(ByteBuffer.wrap(c.bytes(), cut, c.bytes().length - cut));
            assertEquals(whole, Outcome.of(reader), "cut at " + cut);
        }
    }

    @ParameterizedTest
    @MethodSource("captured")
    void records_of_any_size_give_the_same_kind(Corpus c) {
        byte[] message = Arrays.copyOfRange(c.bytes(), 5, c.bytes().length);
        var whole = new ClientHelloReader();
        whole.feed(ByteBuffer.wrap(c.bytes()));
        for (int size : new int[] {(message.length + 63) / 64, 100, 512, 1000}) {
            var reader = new ClientHelloReader();
            byte[] cut = HelloBytes.records(message, size);
            assertEquals(ClientHelloReader.Status.HELLO, reader.feed(ByteBuffer.wrap(cut)), "records of " + size);
            assertEquals(cut.length, reader.hello().bytes());
            assertEquals(c.expected(), reader.hello().kind());
            assertTrue(Arrays.equals(whole.hello().claim(), reader.hello().claim()));
        }
    }

    @ParameterizedTest
    @MethodSource("captured")
    void no_part_of_a_hello_is_an_answer(Corpus c) {
        for (int length = 0; length < c.bytes().length; length++) {
            assertEquals("NEED_MORE", Outcome.ofWhole(Arrays.copyOf(c.bytes(), length)).status(), "after " + length + " bytes");
        }
    }
}
