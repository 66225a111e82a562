package dev.loadline.chat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What goes over a connection, whole and never changed, so that one broadcast is one array:
 * {@code u16 length of what follows, u8 type, body}.
 */
final class Frame {
    /** Bytes of length and type. */
    static final int HEADER = 3;
    /** Of a frame, header and all. */
    static final int LONGEST = 2 + 0xFFFF;

    /** What a frame says; the body's fields behind it. */
    enum Type {
        /** From a user, first of all: {@code i32 room, i32 user}. */
        JOIN,
        /** To a user who joined: nothing. */
        JOINED,
        /** From a user: {@code i32 number, i64 nanoseconds, text}. */
        SAY,
        /** To the others: {@code i32 user, i32 number, i64 nanoseconds, text}. */
        HEARD,
        /** To the user who said it, after it was given to all others: {@code i32 number}. */
        RECEIPT;

        private static final Type[] ALL = values();
    }

    private final byte[] bytes;

    private Frame(byte[] bytes) {
        this.bytes = bytes;
    }

    static Frame join(int room, int user) {
        return of(Type.JOIN, 8).put(b -> b.putInt(room).putInt(user));
    }

    static Frame joined() {
        return new Frame(new byte[] {0, 1, (byte) Type.JOINED.ordinal()});
    }

    static Frame say(int number, long nanos, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return of(Type.SAY, 12 + utf8.length).put(b -> b.putInt(number).putLong(nanos).put(utf8));
    }

    /** What a user said, as the others get it. */
    static Frame heard(int user, Frame said) {
        ByteBuffer body = said.body();
        return of(Type.HEARD, 4 + body.remaining()).put(b -> b.putInt(user).put(body));
    }

    static Frame receipt(int number) {
        return of(Type.RECEIPT, 4).put(b -> b.putInt(number));
    }

    /**
     * The frame that begins at the buffer's position, which moves behind it; null if it is not whole yet.
     *
     * @throws ProtocolException if what is there is no frame
     */
    static Frame read(ByteBuffer from) throws ProtocolException {
        if (from.remaining() < 2) {
            return null;
        }
        int length = from.getShort(from.position()) & 0xFFFF;
        if (length == 0) {
            throw new ProtocolException("a frame without a type");
        }
        if (from.remaining() < 2 + length) {
            return null;
        }
        int type = from.get(from.position() + 2);
        if (type < 0 || type >= Type.ALL.length) {
            throw new ProtocolException("a frame of unknown type " + type);
        }
        byte[] bytes = new byte[2 + length];
        from.get(bytes);
        return new Frame(bytes);
    }

    Type type() {
        return Type.ALL[bytes[2]];
    }

    /** What follows the type, to be read; the frame itself does not change. */
    ByteBuffer body() {
        return ByteBuffer.wrap(bytes, HEADER, bytes.length - HEADER).asReadOnlyBuffer();
    }

    /** As sent: not to be changed. */
    byte[] bytes() {
        return bytes;
    }

    private static Unfilled of(Type type, int body) {
        if (HEADER + body > LONGEST) {
            throw new IllegalArgumentException("a frame of " + (HEADER + body) + " bytes; at most " + LONGEST);
        }
        ByteBuffer buffer = ByteBuffer.allocate(HEADER + body).putShort((short) (1 + body)).put((byte) type.ordinal());
        return new Unfilled(buffer);
    }

    private record Unfilled(ByteBuffer buffer) {
        Frame put(java.util.function.Consumer<ByteBuffer> body) {
            body.accept(buffer);
            return new Frame(buffer.array());
        }
    }
}
