package dev.loadline.guard.hello;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * The same question answered in the plainest way, for comparison: the records' contents put together, each
 * vector a buffer of its own, a lie about a length an underflow. Slow, and written without a look at
 * {@link HelloParser}. Knows whether bytes are a hello and what it claims; of those that are none it does
 * not say why.
 */
final class PlainReading {
    private PlainReading() {
    }

    /** {@code NEED_MORE}, {@code NOT_TLS}, or the kinds towards a server with and without TLS 1.3. */
    static String of(byte[] wire) {
        try {
            byte[] message = message(wire);
            return message == null ? "NEED_MORE" : kinds(ByteBuffer.wrap(message, 4, message.length - 4).slice());
        } catch (BufferUnderflowException | IllegalStateException e) {
            return "NOT_TLS";
        }
    }

    private static byte[] message(byte[] wire) {
        var all = new ByteArrayOutputStream();
        int need = Integer.MAX_VALUE;
        int at = 0;
        for (int records = 0; at < wire.length; records++) {
            require(wire[at] == 22 && records < 64);
            if (at + 2 > wire.length) {
                return null;
            }
            require(wire[at + 1] == 3);
            if (at + 5 > wire.length) {
                return null;
            }
            int length = (wire[at + 3] & 0xff) * 256 + (wire[at + 4] & 0xff);
            require(length > 0 && length <= 16_384);
            for (int i = at + 5; i < Math.min(wire.length, at + 5 + length); i++) {
                all.write(wire[i]);
                require(all.size() > 1 || wire[i] == 1);
                if (all.size() == 4) {
                    need = 4 + (ByteBuffer.wrap(all.toByteArray()).getInt() & 0xffffff);
                    require(need <= 32_768);
                }
                if (all.size() == need) {
                    return all.toByteArray();
                }
            }
            at += 5 + length;
        }
        return null;
    }

    private static String kinds(ByteBuffer body) {
        require(body.get() == 3);
        body.get();
        body.get(new byte[32]);
        ByteBuffer id = vector(body, body.get() & 0xff);
        require(id.remaining() <= 32);
        ByteBuffer suites = vector(body, body.getShort() & 0xffff);
        require(suites.remaining() >= 2 && suites.remaining() % 2 == 0);
        require(vector(body, body.get() & 0xff).remaining() >= 1);
        boolean hasId = id.hasRemaining();
        if (!body.hasRemaining()) {
            return hasId ? "CLAIMS_SESSION_ID CLAIMS_SESSION_ID" : "NEW NEW";
        }
        ByteBuffer all = vector(body, body.getShort() & 0xffff);
        require(!body.hasRemaining());
        Map<Integer, ByteBuffer> extensions = new HashMap<>();
        int last = -1;
        int count = 0;
        while (all.hasRemaining()) {
            last = all.getShort() & 0xffff;
            ByteBuffer before = extensions.put(last, vector(all, all.getShort() & 0xffff));
            require((before == null || last > 63) && ++count <= 128);
        }
        check(extensions.get(0), PlainReading::names);
        check(extensions.get(16), PlainReading::protocols);
        boolean tls13 = extensions.containsKey(43) && versions(extensions.get(43));
        boolean psk = tls13 && extensions.containsKey(41);
        if (psk) {
            require(last == 41);
            keys(extensions.get(41));
        }
        ByteBuffer ticket = extensions.get(35);
        String old = ticket != null && ticket.hasRemaining() ? "CLAIMS_TICKET" : hasId ? "CLAIMS_SESSION_ID" : "NEW";
        return (tls13 ? psk ? "CLAIMS_PSK" : "NEW" : old) + " " + old;
    }

    private static void check(ByteBuffer content, java.util.function.Consumer<ByteBuffer> by) {
        if (content != null) {
            by.accept(content);
        }
    }

    private static void names(ByteBuffer content) {
        ByteBuffer list = vector(content, content.getShort() & 0xffff);
        require(!content.hasRemaining());
        int hosts = 0;
        while (list.hasRemaining()) {
            boolean host = list.get() == 0;
            int length = vector(list, list.getShort() & 0xffff).remaining();
            require(!host || length >= 1 && length <= 255 && ++hosts == 1);
        }
    }

    private static void protocols(ByteBuffer content) {
        ByteBuffer list = vector(content, content.getShort() & 0xffff);
        require(!content.hasRemaining());
        while (list.hasRemaining()) {
            require(vector(list, list.get() & 0xff).hasRemaining());
        }
    }

    private static boolean versions(ByteBuffer content) {
        ByteBuffer list = vector(content, content.get() & 0xff);
        require(!content.hasRemaining() && list.hasRemaining());
        boolean tls13 = false;
        while (list.hasRemaining()) {
            tls13 |= list.getShort() == 0x0304;
        }
        return tls13;
    }

    private static void keys(ByteBuffer content) {
        ByteBuffer identities = vector(content, content.getShort() & 0xffff);
        ByteBuffer binders = vector(content, content.getShort() & 0xffff);
        require(!content.hasRemaining() && identities.hasRemaining());
        while (identities.hasRemaining()) {
            require(vector(identities, identities.getShort() & 0xffff).hasRemaining());
            identities.getInt();
            require(vector(binders, binders.get() & 0xff).remaining() >= 32);
        }
        require(!binders.hasRemaining());
    }

    private static ByteBuffer vector(ByteBuffer in, int length) {
        if (length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer content = in.slice(in.position(), length);
        in.position(in.position() + length);
        return content;
    }

    private static void require(boolean good) {
        if (!good) {
            throw new IllegalStateException();
        }
    }
}
