package dev.loadline.threading.giop;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Messages of GIOP 1.2, whole: requests and replies. */
public final class Message {
    /** Before the body of each. */
    static final int HEADER = 12;
    private static final byte[] MAGIC = {'G', 'I', 'O', 'P', 1, 2};
    private static final int REQUEST = 0;
    private static final int REPLY = 1;
    private static final int CLOSE = 5;
    private static final int LARGEST = 1 << 20;
    private static final int SIZE_AT = 8;
    private static final int ID_AT = HEADER;
    private static final int NO_EXCEPTION = 0;
    /** The arguments of a request and the result in a reply begin at a multiple of it. */
    private static final int BODY = 8;

    private Message() {
    }

    /** A call: who is called what, and where its arguments begin. */
    public record Request(int id, String operation, ByteBuffer arguments) {
    }

    /** Reads a message; null where the other side has closed, or says that it does. */
    public static ByteBuffer read(InputStream in) throws IOException {
        byte[] header = in.readNBytes(HEADER);
        if (header.length == 0) {
            return null;
        }
        if (header.length < HEADER || !Arrays.equals(header, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            throw new IOException("what came is no message of GIOP 1.2");
        }
        var order = Cdr.order(header[6]);
        int size = ByteBuffer.wrap(header).order(order).getInt(SIZE_AT);
        if (size < 0 || size > LARGEST || (header[6] & 2) != 0) {
            throw new IOException("a message of " + (size & 0xFFFF_FFFFL) + " bytes or in fragments; it must be whole, of " + LARGEST + " at most");
        }
        if (header[7] == CLOSE) {
            return null;
        }
        byte[] whole = Arrays.copyOf(header, HEADER + size);
        if (in.readNBytes(whole, HEADER, size) < size) {
            throw new EOFException("the connection ended within a message");
        }
        return ByteBuffer.wrap(whole).order(order);
    }

    /** A request that wants a reply. {@link #number} gives it another id. */
    public static ByteBuffer request(byte[] key, String operation, int... arguments) {
        var out = begin(REQUEST).number(0).octet(3).octet(0).octet(0).octet(0).number16(0).octets(key).text(operation).number(0).align(BODY);
        for (int argument : arguments) {
            out.number(argument);
        }
        return end(out);
    }

    /** Changes the id of a request, and its arguments from the end. */
    public static void number(ByteBuffer request, int id, int... arguments) {
        request.putInt(ID_AT, id);
        for (int i = 0; i < arguments.length; i++) {
            request.putInt(request.limit() - 4 * (arguments.length - i), arguments[i]);
        }
    }

    /** Takes a request apart. */
    public static Request request(ByteBuffer message) throws IOException {
        if (message.get(7) != REQUEST) {
            throw new IOException("a message of type " + message.get(7) + "; only requests are served here");
        }
        try {
            message.position(ID_AT);
            int id = message.getInt();
            int flags = message.get();
            message.position(message.position() + 3);
            if (flags == 0) {
                throw new IOException("a request that wants no reply");
            }
            if (message.getShort() != 0) {
                throw new IOException("a request that names its target otherwise than by its key");
            }
            Cdr.octets(message);
            String operation = Cdr.text(message);
            skipContexts(message);
            return new Request(id, operation, Cdr.align(message, BODY));
        } catch (BufferUnderflowException e) {
            throw new IOException("a request that ends too early", e);
        }
    }

    /** A reply with one number. */
    public static byte[] reply(int id, int result) {
        return end(begin(REPLY).number(id).number(NO_EXCEPTION).number(0).align(BODY).number(result)).array();
    }

    /** The number that a reply to that request holds. */
    public static int result(ByteBuffer message, int id) throws IOException {
        if (message.get(7) != REPLY) {
            throw new IOException("a message of type " + message.get(7) + " in place of a reply");
        }
        try {
            message.position(ID_AT);
            int answered = message.getInt();
            int status = message.getInt();
            skipContexts(message);
            Cdr.align(message, BODY);
            if (answered != id) {
                throw new IOException("a reply to request " + answered + " in place of " + id);
            }
            if (status != NO_EXCEPTION) {
                throw new IOException("a reply with exception " + Cdr.text(message));
            }
            return message.getInt();
        } catch (BufferUnderflowException e) {
            throw new IOException("a reply that ends too early", e);
        }
    }

    private static void skipContexts(ByteBuffer message) {
        for (int left = Cdr.number(message); left > 0; left--) {
            Cdr.number(message);
            Cdr.octets(message);
        }
    }

    private static Cdr.Writer begin(int type) {
        var out = new Cdr.Writer();
        for (byte b : MAGIC) {
            out.octet(b);
        }
        return out.octet(0).octet(type).number(0);
    }

    private static ByteBuffer end(Cdr.Writer out) {
        ByteBuffer message = ByteBuffer.wrap(out.bytes());
        return message.putInt(SIZE_AT, message.limit() - HEADER);
    }
}
