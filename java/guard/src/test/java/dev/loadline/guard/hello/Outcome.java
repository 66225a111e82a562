package dev.loadline.guard.hello;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Everything that a reader says, as text, so that two readings can be compared and a difference shown. */
record Outcome(String status, String detail, int taken) {

    static Outcome of(ClientHelloReader reader) {
        return new Outcome(reader.status().name(),
            reader.notTls() != null ? reader.notTls().name() : reader.hello() != null ? detail(reader.hello()) : "",
            reader.taken().remaining());
    }

    static Outcome ofWhole(byte[] bytes) {
        var reader = new ClientHelloReader();
        reader.feed(ByteBuffer.wrap(bytes));
        return of(reader);
    }

    static String detail(ClientHello h) {
        return "version %04x %s id %d:%08x ticket %s psk %s of %d early %s sni %s alpn %s bytes %d in %d, %s or %s".formatted(
            h.legacyVersion(), h.tls13Offered() ? "1.3" : "", h.sessionId().length, Arrays.hashCode(h.sessionId()),
            text(h.ticket()), text(h.pskIdentity()), h.pskIdentities(), h.earlyData(), h.sni(), h.alpn(), h.bytes(),
            h.records(), h.kind(true), h.kind(false));
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "none" : bytes.length + ":" + Integer.toHexString(Arrays.hashCode(bytes));
    }
}
