package dev.loadline.guard.hello;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/** Hellos made by hand, as right or as wrong as a test wants them. */
final class HelloBytes {
    static final int SERVER_NAME = 0;
    static final int ALPN = 16;
    static final int TICKET = 35;
    static final int PSK = 41;
    static final int EARLY_DATA = 42;
    static final int VERSIONS = 43;
    static final int KEY_SHARE = 51;

    private int legacyVersion = 0x0303;
    private byte[] sessionId = {};
    private byte[] suites = {0x13, 0x01, (byte) 0xc0, 0x2f};
    private final ByteArrayOutputStream extensions = new ByteArrayOutputStream();
    private boolean noExtensions;

    static HelloBytes tls12() {
        return new HelloBytes();
    }

    /** Offers TLS 1.3 and 1.2, with the session id that compatibility mode wants. */
    static HelloBytes tls13() {
        return new HelloBytes().id(fill(32, 7)).extension(VERSIONS, new byte[] {4, 3, 4, 3, 3});
    }

    HelloBytes version(int version) {
        legacyVersion = version;
        return this;
    }

    HelloBytes id(byte[] id) {
        sessionId = id;
        return this;
    }

    HelloBytes suites(byte[] bytes) {
        suites = bytes;
        return this;
    }

    HelloBytes withoutExtensions() {
        noExtensions = true;
        return this;
    }

    HelloBytes extension(int type, byte[] data) {
        extensions.writeBytes(u16(type));
        extensions.writeBytes(u16(data.length));
        extensions.writeBytes(data);
        return this;
    }

    HelloBytes sni(String name) {
        return extension(SERVER_NAME, vector16(join(new byte[] {0}, vector16(name.getBytes()))));
    }

    HelloBytes psk(int identities, int identityLength, int binders, int binderLength) {
        byte[] ids = {};
        for (int i = 0; i < identities; i++) {
            ids = join(ids, vector16(fill(identityLength, 0x40 + i)), new byte[4]);
        }
        byte[] proofs = {};
        for (int i = 0; i < binders; i++) {
            proofs = join(proofs, new byte[] {(byte) binderLength}, fill(binderLength, 9));
        }
        return extension(PSK, join(vector16(ids), vector16(proofs)));
    }

    /** The body: what follows the message's type and length. */
    byte[] body() {
        byte[] head = join(u16(legacyVersion), fill(32, 1), new byte[] {(byte) sessionId.length}, sessionId,
            vector16(suites), new byte[] {1, 0});
        return noExtensions ? head : join(head, vector16(extensions.toByteArray()));
    }

    /** The message. */
    byte[] message() {
        byte[] body = body();
        return join(new byte[] {1, (byte) (body.length >> 16), (byte) (body.length >> 8), (byte) body.length}, body);
    }

    /** The message in one record. */
    byte[] wire() {
        return records(message(), 16_384);
    }

    /** A message cut into records of at most {@code size} bytes. */
    static byte[] records(byte[] message, int size) {
        byte[] all = {};
        for (int from = 0; from < message.length; from += size) {
            all = join(all, record(Arrays.copyOfRange(message, from, Math.min(message.length, from + size))));
        }
        return all;
    }

    static byte[] record(byte[] content) {
        return join(new byte[] {22, 3, 1}, vector16(content));
    }

    static byte[] vector16(byte[] content) {
        return join(u16(content.length), content);
    }

    static byte[] u16(int n) {
        return new byte[] {(byte) (n >> 8), (byte) n};
    }

    static byte[] fill(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    static byte[] join(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
