package dev.loadline.guard.tomcat;

import dev.loadline.guard.Action;
import dev.loadline.guard.EngineLimit;
import dev.loadline.guard.Greeting;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.ProxyHeader;
import dev.loadline.guard.Refusal;
import dev.loadline.guard.Serving;
import dev.loadline.guard.WrongProxyHeader;
import dev.loadline.guard.hello.ClientHello;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import org.apache.tomcat.util.buf.ByteBufferUtils;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SecureNioChannel;
import org.apache.tomcat.util.net.SocketBufferHandler;

/**
 * A TLS channel whose first bytes are read by the guard. States: announced (a trusted proxy is to say whose it is), greeting (the hello
 * is not whole), decided, and then as Tomcat's. Tomcat uses a channel for one connection after another;
 * {@link GuardedSocketWrapper} and {@link Serving} are of one.
 */
final class GuardedChannel extends SecureNioChannel {
    /** What to do after having read. */
    enum Heard { MORE, GO_ON, CLOSE }

    /** What {@link #handshake} answers when all is done: Tomcat acts on 0, -1, OP_READ and OP_WRITE only. */
    private static final int REFUSED = 2;
    private static final int RECORD_HEADER = 5;
    private static final int MAX_RECORD = 16_384;
    /** Of a server with a certificate and the one that signed it, in TLS 1.3: to begin with. */
    private static final int FLIGHT = 4_096;

    private final GuardedEndpoint endpoint;
    private final Greeting greeting = new Greeting();
    /** The connection that it is of; null: one that began while the guard was off. */
    private volatile GuardedSocketWrapper guarded;
    /** Who is to say whose it is, before its hello; null: nobody, or it is said. */
    private InetAddress proxy;
    private Action action = Action.SERVE;
    /** Records of a long hello that Tomcat is not to see before it has made an engine. */
    private byte[] held;

    GuardedChannel(SocketBufferHandler buffers, GuardedEndpoint endpoint) {
        super(buffers, endpoint);
        this.endpoint = endpoint;
    }

    @Override
    public void reset(SocketChannel channel, NioSocketWrapper wrapper) throws IOException {
        super.reset(channel, wrapper);
        guarded = null;
        proxy = null;
        action = Action.SERVE;
        held = null;
        greeting.reset();
    }

    /** A connection begins; its hello is awaited. */
    void greet(GuardedSocketWrapper wrapper, GuardedConnection connection) {
        wrapper.greet(connection);
        guarded = wrapper;
    }

    /** One of a trusted proxy begins; a header of the PROXY protocol is awaited, and then its hello. */
    void awaitHeader(GuardedSocketWrapper wrapper, InetAddress peer) {
        greet(wrapper, null);
        proxy = peer;
    }

    /**
     * Reads what came and decides as soon as the hello is whole. On the acceptor's or a poller's thread; never blocks.
     * Only for a connection whose hello is awaited, with its monitor held: else the guard's thread could close it, and
     * the acceptor take this channel for the next one.
     */
    Heard hear() {
        Guard guard = endpoint.active();
        try {
            if (guard == null && proxy == null) {
                return goOn();
            }
            int before = netInBuffer.position();
            if (sc.read(netInBuffer) < 0) {
                return Heard.CLOSE;
            }
            if (proxy != null) {
                if (!hearHeader(guard)) {
                    return Heard.MORE;
                }
                before = 0;
                if (guard == null) {
                    return goOn();
                }
            }
            ByteBuffer fresh = netInBuffer.duplicate().flip().position(before);
            Action decided = greeting.hear(fresh, guard, guarded.serving().connection(), endpoint.speaksTls13(), endpoint.restricts());
            return decided == null ? more() : act(decided);
        } catch (WrongProxyHeader e) {
            return Heard.CLOSE; // its proxy is to be mended, as the log says
        } catch (IOException e) {
            return Heard.CLOSE; // the client is gone
        } catch (RuntimeException | Error e) {
            if (guard != null) {
                guard.failed(e);
            }
            return goOn();
        }
    }

    /** Takes a header away from what is read, once it is whole. */
    private boolean hearHeader(Guard guard) throws WrongProxyHeader {
        ProxyHeader header = endpoint.proxies().read(netInBuffer.duplicate().flip(), proxy);
        if (header == null) {
            return false;
        }
        netInBuffer.flip().position(header.length());
        netInBuffer.compact();
        guarded.isOf(header, guard == null ? null : guard.connection(header.client() == null ? proxy : header.client()));
        proxy = null;
        return true;
    }

    private Heard goOn() {
        guarded.greeted();
        greeting.reset();
        return Heard.GO_ON;
    }

    /** The reader gives up long before the sum of these. */
    private Heard more() {
        if (!netInBuffer.hasRemaining()) {
            netInBuffer = ByteBufferUtils.expand(netInBuffer, 2 * netInBuffer.capacity());
        }
        return Heard.MORE;
    }

    private Heard act(Action decided) throws IOException {
        action = decided;
        return switch (decided) {
            case SERVE, SERVE_RESUMED_ONLY, SERVE_PAGE -> {
                ClientHello hello = greeting.hello();
                if (hello != null && hello.records() > 1) {
                    join(hello.bytes());
                }
                yield goOn();
            }
            case ALERT -> {
                sc.write(ByteBuffer.wrap(Guard.ALERT)); // seven bytes fit the empty buffer of a new socket
                yield Heard.CLOSE;
            }
            case CLOSE -> Heard.CLOSE;
        };
    }

    /**
     * Tomcat reads a hello that came in several records as if their headers were part of it, and fails,
     * once all of it is in the buffer, as it is here. One record is made of them; the handshake's hash is
     * over messages and not records (RFC 8446 4.4.1). What is longer than a record may be is held back but
     * for its first record, of which Tomcat then sees that it is not whole.
     */
    private void join(int helloBytes) {
        byte[] all = new byte[netInBuffer.position()];
        netInBuffer.duplicate().flip().get(all);
        byte[] joined = new byte[helloBytes];
        int length = 0;
        for (int at = 0; at < helloBytes; ) {
            int record = (all[at + 3] & 0xff) << 8 | all[at + 4] & 0xff;
            if (at + RECORD_HEADER + record > helloBytes) {
                return; // its last record holds more than the hello, which no client does
            }
            System.arraycopy(all, at + RECORD_HEADER, joined, length, record);
            length += record;
            at += RECORD_HEADER + record;
        }
        netInBuffer.clear();
        if (length <= MAX_RECORD) {
            netInBuffer.put(all, 0, 3).putShort((short) length).put(joined, 0, length);
            netInBuffer.put(all, helloBytes, all.length - helloBytes);
        } else {
            int first = RECORD_HEADER + ((all[3] & 0xff) << 8 | all[4] & 0xff);
            netInBuffer.put(all, 0, first);
            held = Arrays.copyOfRange(all, first, all.length);
        }
    }

    @Override
    protected SSLEngineResult handshakeUnwrap(boolean read) throws IOException {
        byte[] more = held;
        if (more != null) {
            held = null;
            if (netInBuffer.remaining() < more.length) {
                netInBuffer = ByteBufferUtils.expand(netInBuffer, netInBuffer.position() + more.length);
            }
            netInBuffer.put(more);
        }
        return super.handshakeUnwrap(read);
    }

    /**
     * Of a guarded connection, all that the engine has to say before the client's turn, in one write. Tomcat writes each record when the
     * poller has said that the socket is writable, and has another worker wrap the next: five dispatches for a handshake in place of two.
     */
    @Override
    protected SSLEngineResult handshakeWrap(boolean write) throws IOException {
        if (serving() == null) {
            return super.handshakeWrap(write);
        }
        SSLEngineResult result = super.handshakeWrap(false);
        if (handshakeStatus == HandshakeStatus.NEED_WRAP) {
            var flight = new ByteArrayOutputStream(FLIGHT);
            add(flight);
            while (handshakeStatus == HandshakeStatus.NEED_WRAP && result.getStatus() == Status.OK && flight.size() < MAX_RECORD) {
                result = super.handshakeWrap(false);
                add(flight);
            }
            netOutBuffer = ByteBufferUtils.expand(netOutBuffer, flight.size());
            netOutBuffer.clear().put(flight.toByteArray()).flip();
        }
        if (write) {
            flush(netOutBuffer);
        }
        return result;
    }

    /** Takes what was wrapped. */
    private void add(ByteArrayOutputStream flight) {
        byte[] record = new byte[netOutBuffer.remaining()];
        netOutBuffer.get(record);
        flight.writeBytes(record);
    }

    /** Null: it began while the guard was off, or its proxy has not said whose it is. */
    private Serving serving() {
        GuardedSocketWrapper wrapper = guarded;
        return wrapper == null ? null : wrapper.serving();
    }

    @Override
    public int handshake(boolean read, boolean write) throws IOException {
        Serving now = serving();
        if (now == null || handshakeComplete) {
            return super.handshake(read, write);
        }
        boolean restricted = action == Action.SERVE_RESUMED_ONLY;
        if (sslEngine == null) {
            EngineWish.begin(EngineLimit.of(action, now.connection()));
        }
        int result = 0;
        SSLException failure = null;
        try {
            result = super.handshake(read, write);
            // Also said where all has been written, and when it is done.
            while (result == SelectionKey.OP_WRITE && flush(netOutBuffer)) {
                result = super.handshake(read, true);
            }
            return result;
        } catch (SSLException e) {
            failure = e;
            if (!restricted) {
                throw e;
            }
            result = REFUSED;
            return result;
        } finally {
            EngineWish.end();
            now.handshakeRanSoFar();
            if (failure != null || result == -1 && sslEngine != null && sslEngine.isOutboundDone()) {
                now.connection().handshakeFailed();
            } else if (handshakeComplete) {
                now.connection().handshakeDone(sslEngine.getSession().getCreationTime());
            }
            if (result == REFUSED) {
                refuse();
            }
        }
    }

    /** As early as can be for a claim that was not good: no Processor, no access log, no TLS close. */
    private void refuse() throws IOException {
        sslEngine = null;
        Guard guard = endpoint.active();
        if (guard != null && guard.settings().refusal() != Refusal.CLOSE) {
            sc.write(ByteBuffer.wrap(Guard.ALERT));
        }
        guarded.close();
    }

    @Override
    public void close() throws IOException {
        ended();
        super.close();
    }

    @Override
    public void close(boolean force) throws IOException {
        ended();
        super.close(force);
    }

    private void ended() {
        GuardedSocketWrapper wrapper = guarded;
        if (wrapper != null) {
            wrapper.greeted();
            Serving served = wrapper.serving();
            if (served != null) {
                served.turnOver();
                served.connection().closed();
            }
        }
    }
}
