package dev.loadline.threading.giop;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Common data representation: values aligned to their size from where the message or encapsulation begins. */
final class Cdr {
    private Cdr() {
    }

    /** Writes, in big-endian order. */
    static final class Writer {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream(128);

        Writer octet(int value) {
            out.write(value);
            return this;
        }

        Writer align(int size) {
            while (out.size() % size != 0) {
                out.write(0);
            }
            return this;
        }

        Writer number16(int value) {
            return align(2).octet(value >> 8).octet(value);
        }

        Writer number(int value) {
            return align(4).octet(value >> 24).octet(value >> 16).octet(value >> 8).octet(value);
        }

        Writer octets(byte[] value) {
            number(value.length);
            out.writeBytes(value);
            return this;
        }

        Writer text(String value) {
            octets((value + '\0').getBytes(StandardCharsets.ISO_8859_1));
            return this;
        }

        byte[] bytes() {
            return out.toByteArray();
        }
    }

    /** Moves on to the next multiple of a size. */
    static ByteBuffer align(ByteBuffer in, int size) {
        return in.position(Math.min(in.limit(), (in.position() + size - 1) / size * size));
    }

    static int number(ByteBuffer in) {
        return align(in, 4).getInt();
    }

    /** @throws java.nio.BufferUnderflowException if it says to be longer than what is left */
    static byte[] octets(ByteBuffer in) {
        int length = number(in);
        if (length < 0 || length > in.remaining()) {
            throw new java.nio.BufferUnderflowException();
        }
        byte[] value = new byte[length];
        in.get(value);
        return value;
    }

    static String text(ByteBuffer in) {
        byte[] value = octets(in);
        return new String(value, 0, Math.max(0, value.length - 1), StandardCharsets.ISO_8859_1);
    }

    static ByteOrder order(int flag) {
        return (flag & 1) == 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    /** An encapsulation: its first octet says its byte order. */
    static ByteBuffer encapsulation(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        return in.order(order(in.get()));
    }
}
