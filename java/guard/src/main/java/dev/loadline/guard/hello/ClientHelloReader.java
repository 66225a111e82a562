package dev.loadline.guard.hello;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Collects the bytes of one connection until its hello is whole. Not thread-safe; {@link #reset} makes it
 * ready for another connection.
 *
 * <pre>{@code
 * var reader = new ClientHelloReader();
 * switch (reader.feed(bytes)) {          // takes what belongs to the hello, leaves the rest
 *     case NEED_MORE -> wait for more
 *     case HELLO -> decide by reader.hello().kind()
 *     case NOT_TLS -> close, count reader.notTls()
 * }
 * }</pre>
 *
 * <p>What was taken is kept as it came ({@link #taken}), so that it can be handed on to the engine.
 * Errors are found in the order of the bytes; an answer other than NEED_MORE is final.
 */
public final class ClientHelloReader {
    /** JSSE's own limit of a handshake message (jdk.tls.maxHandshakeMessageSize). */
    public static final int DEFAULT_MAX_BYTES = 32_768;
    /** Fragments of 512 bytes, the smallest that a client may agree on (RFC 6066 4), up to the limit of bytes. */
    public static final int MAX_RECORDS = 64;

    private static final int RECORD_HEADER = 5;
    private static final int MESSAGE_HEADER = 4;
    private static final int MAX_RECORD = 16_384;
    private static final int HANDSHAKE = 22;
    private static final int CLIENT_HELLO = 1;
    private static final int MAX_METHOD = 16;
    private static final int FIRST_SIZE = 2_048;

    /** What is known so far. */
    public enum Status {
        /** The hello is not whole yet. */
        NEED_MORE,
        /** These bytes are no hello: {@link #notTls} says why. */
        NOT_TLS,
        /** The hello is whole: {@link #hello} has it. */
        HELLO
    }

    private final int maxBytes;
    private byte[] wire = new byte[0];
    private int taken;
    private int headerHave;
    private int records;
    private int recordLeft;
    private int messageHave;
    private int messageNeed;
    private Status status = Status.NEED_MORE;
    private NotTls notTls;
    private ClientHello hello;

    public ClientHelloReader() {
        this(DEFAULT_MAX_BYTES);
    }

    /** @param maxBytes longest hello that is read; it bounds the memory held */
    public ClientHelloReader(int maxBytes) {
        if (maxBytes < MESSAGE_HEADER) {
            throw new IllegalArgumentException("maxBytes is " + maxBytes + "; it must be at least " + MESSAGE_HEADER);
        }
        this.maxBytes = maxBytes;
    }

    /** Takes bytes up to the last of the hello, or up to the one that shows that it is none. */
    public Status feed(ByteBuffer in) {
        while (status == Status.NEED_MORE && in.hasRemaining()) {
            if (recordLeft == 0) {
                header(take(in));
            } else if (messageHave < MESSAGE_HEADER) {
                messageHeader(take(in));
            } else {
                body(in);
            }
        }
        return status;
    }

    /** Looks at bytes from the first one on, and leaves the buffer as it was; forgets what came before. */
    public Status peek(ByteBuffer in) {
        reset();
        int position = in.position();
        feed(in);
        in.position(position);
        return status;
    }

    public Status status() {
        return status;
    }

    /** The hello, once the status says so; else null. */
    public ClientHello hello() {
        return hello;
    }

    /** Why these bytes are no hello, once the status says so; else null. */
    public NotTls notTls() {
        return notTls;
    }

    /** All bytes taken so far, as they came. A view: valid until the next call of another method. */
    public ByteBuffer taken() {
        return ByteBuffer.wrap(wire, 0, taken).asReadOnlyBuffer();
    }

    /** Bytes of memory held, for tests. */
    int held() {
        return wire.length;
    }

    /** Ready for another connection; keeps a buffer of common size. */
    public void reset() {
        if (wire.length > 2 * FIRST_SIZE) {
            wire = new byte[0];
        }
        taken = headerHave = records = recordLeft = messageHave = messageNeed = 0;
        status = Status.NEED_MORE;
        notTls = null;
        hello = null;
    }

    private int take(ByteBuffer in) {
        reserve(1);
        byte b = in.get();
        wire[taken++] = b;
        return b & 0xff;
    }

    private void header(int b) {
        int at = headerHave++;
        if (records == 0 && (wire[0] & 0xff) != HANDSHAKE) {
            otherProtocol(at);
            return;
        }
        switch (at) {
            case 0 -> {
                if (b != HANDSHAKE) {
                    refuse(NotTls.NOT_HANDSHAKE);
                } else if (records == MAX_RECORDS) {
                    refuse(NotTls.TOO_MANY_RECORDS);
                }
            }
            case 1 -> {
                // 3 is the major version of SSL 3.0 and of every TLS; the minor one means nothing here.
                if (b != 3) {
                    refuse(NotTls.GARBAGE);
                }
            }
            case RECORD_HEADER - 1 -> {
                int length = (wire[taken - 2] & 0xff) << 8 | b;
                if (length == 0) {
                    refuse(NotTls.EMPTY_RECORD);
                } else if (length > MAX_RECORD) {
                    refuse(NotTls.RECORD_TOO_LONG);
                }
                recordLeft = length;
                records++;
                headerHave = 0;
            }
            default -> { }
        }
    }

    /** The connection does not begin with a handshake record: {@code at} is the index of its last byte. */
    private void otherProtocol(int at) {
        int first = wire[0] & 0xff;
        int b = wire[at] & 0xff;
        if (first >= 20 && first <= 24) {
            // The other record types: a TLS peer, but none that says hello.
            if (at == 1) {
                refuse(b == 3 ? NotTls.NOT_HANDSHAKE : NotTls.GARBAGE);
            }
        } else if ((first & 0x80) != 0) {
            // SSL 2.0: two bytes of length, type 1, version 2.0 or 3.x.
            if (at == 2 && b != CLIENT_HELLO) {
                refuse(NotTls.GARBAGE);
            } else if (at == 3) {
                refuse(b == 0 || b == 2 || b == 3 ? NotTls.SSLV2_HELLO : NotTls.GARBAGE);
            }
        } else if (at > 0 && b == ' ') {
            refuse(NotTls.PLAIN_HTTP);
        } else if (b < 'A' || b > 'Z' || at == MAX_METHOD) {
            refuse(NotTls.GARBAGE);
        }
    }

    private void messageHeader(int b) {
        recordLeft--;
        if (messageHave++ == 0) {
            if (b != CLIENT_HELLO) {
                refuse(NotTls.NOT_CLIENT_HELLO);
            }
            return;
        }
        messageNeed = messageNeed << 8 | b;
        if (messageHave == MESSAGE_HEADER) {
            if (messageNeed > maxBytes - MESSAGE_HEADER) {
                refuse(NotTls.TOO_LONG);
                return;
            }
            messageNeed += MESSAGE_HEADER;
            finishIfWhole();
        }
    }

    private void body(ByteBuffer in) {
        int n = Math.min(in.remaining(), Math.min(recordLeft, messageNeed - messageHave));
        reserve(n);
        in.get(wire, taken, n);
        taken += n;
        recordLeft -= n;
        messageHave += n;
        finishIfWhole();
    }

    private void finishIfWhole() {
        if (messageHave < messageNeed) {
            return;
        }
        var parser = records == 1
            ? new HelloParser(wire, RECORD_HEADER + MESSAGE_HEADER, taken)
            : new HelloParser(joined(), MESSAGE_HEADER, messageNeed);
        NotTls wrong = parser.parse();
        if (wrong != null) {
            refuse(wrong);
        } else {
            hello = parser.hello(taken, records);
            status = Status.HELLO;
        }
    }

    /** The message without the headers of its records. */
    private byte[] joined() {
        byte[] message = new byte[messageNeed];
        int to = 0;
        for (int from = 0; from < taken; ) {
            int length = (wire[from + 3] & 0xff) << 8 | wire[from + 4] & 0xff;
            int n = Math.min(length, taken - from - RECORD_HEADER);
            System.arraycopy(wire, from + RECORD_HEADER, message, to, n);
            to += n;
            from += RECORD_HEADER + n;
        }
        return message;
    }

    /** Grows with the bytes that came, never with a length that was only announced. */
    private void reserve(int n) {
        if (taken + n > wire.length) {
            int most = maxBytes + RECORD_HEADER * (MAX_RECORDS + 1);
            wire = Arrays.copyOf(wire, Math.min(most, Math.max(taken + n, Math.max(FIRST_SIZE, 2 * wire.length))));
        }
    }

    private void refuse(NotTls why) {
        notTls = why;
        status = Status.NOT_TLS;
    }
}
