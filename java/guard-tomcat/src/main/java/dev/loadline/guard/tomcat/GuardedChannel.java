package dev.loadline.guard.tomcat;

import dev.loadline.guard.Action;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.Mode;
import dev.loadline.guard.Refused;
import dev.loadline.guard.hello.ClientHelloReader;
import dev.loadline.guard.hello.NotTls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLException;
import org.apache.tomcat.util.buf.ByteBufferUtils;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SecureNioChannel;
import org.apache.tomcat.util.net.SocketBufferHandler;

/**
 * A TLS channel whose first bytes are read by the guard. States: greeting (the hello is not whole),
 * decided, and then as Tomcat's. Tomcat uses a channel for one connection after another; {@link Serving}
 * is of one.
 */
final class GuardedChannel extends SecureNioChannel {
    /** What to do after having read. */
    enum Heard { MORE, GO_ON, CLOSE }

    /** What {@link #handshake} answers when all is done: Tomcat acts on 0, -1, OP_READ and OP_WRITE only. */
    private static final int REFUSED = 2;

    private final GuardedEndpoint endpoint;
    private final ClientHelloReader reader = new ClientHelloReader();
    private volatile NioSocketWrapper greetingWrapper;
    private volatile Serving serving;
    private volatile long greetedAtNanos;
    private Action action = Action.SERVE;

    GuardedChannel(SocketBufferHandler buffers, GuardedEndpoint endpoint) {
        super(buffers, endpoint);
        this.endpoint = endpoint;
    }

    @Override
    public void reset(SocketChannel channel, NioSocketWrapper wrapper) throws IOException {
        super.reset(channel, wrapper);
        serving = null;
        greetingWrapper = null;
        action = Action.SERVE;
        reader.reset();
    }

    /** A connection begins; its hello is awaited. */
    void greet(NioSocketWrapper wrapper, GuardedConnection connection) {
        serving = new Serving(connection);
        greetedAtNanos = System.nanoTime();
        greetingWrapper = wrapper;
    }

    boolean greeting() {
        return greetingWrapper != null;
    }

    long greetedFor(long nowNanos) {
        return nowNanos - greetedAtNanos;
    }

    /** Closes a connection that did not say hello in time. */
    void timeOut() {
        NioSocketWrapper wrapper = greetingWrapper;
        if (wrapper != null) {
            wrapper.close();
        }
    }

    Serving serving() {
        return serving;
    }

    /** Reads what came and decides as soon as the hello is whole. On the poller's thread; never blocks. */
    Heard hear() {
        Guard guard = endpoint.active();
        try {
            if (guard == null) {
                return goOn();
            }
            int before = netInBuffer.position();
            int read = sc.read(netInBuffer);
            if (read < 0) {
                return Heard.CLOSE;
            }
            ByteBuffer fresh = netInBuffer.duplicate().position(before).limit(before + read);
            Heard heard = switch (reader.feed(fresh)) {
                case NEED_MORE -> more();
                case NOT_TLS -> notTls(guard, reader.notTls());
                case HELLO -> decide();
            };
            if (heard == Heard.GO_ON) {
                goOn();
            }
            return heard;
        } catch (IOException e) {
            return Heard.CLOSE; // the client is gone
        } catch (RuntimeException | LinkageError e) {
            if (guard != null) {
                guard.failed(e);
            }
            return goOn();
        }
    }

    private Heard goOn() {
        greetingWrapper = null;
        reader.reset();
        return Heard.GO_ON;
    }

    /** The reader gives up long before the sum of these. */
    private Heard more() {
        if (!netInBuffer.hasRemaining()) {
            netInBuffer = ByteBufferUtils.expand(netInBuffer, 2 * netInBuffer.capacity());
        }
        return Heard.MORE;
    }

    private Heard notTls(Guard guard, NotTls why) throws IOException {
        // Tomcat answers plain HTTP with a hint that this port speaks TLS, and JSSE knows the oldest hellos.
        if (guard.mode() != Mode.ENFORCE || why == NotTls.PLAIN_HTTP || why == NotTls.SSLV2_HELLO) {
            return Heard.GO_ON;
        }
        guard.refusedUnheard(Refused.NOT_TLS);
        return Heard.CLOSE;
    }

    private Heard decide() throws IOException {
        action = serving.connection().decide(reader.hello(), endpoint.speaksTls13(), endpoint.restricts());
        return switch (action) {
            case SERVE, SERVE_RESUMED_ONLY, SERVE_PAGE -> Heard.GO_ON;
            case ALERT -> {
                sc.write(ByteBuffer.wrap(Guard.ALERT)); // seven bytes fit the empty buffer of a new socket
                yield Heard.CLOSE;
            }
            case CLOSE -> Heard.CLOSE;
        };
    }

    @Override
    public int handshake(boolean read, boolean write) throws IOException {
        Serving now = serving;
        if (now == null || handshakeComplete) {
            return super.handshake(read, write);
        }
        NioSocketWrapper wrapper = socketWrapper;
        boolean restricted = action == Action.SERVE_RESUMED_ONLY;
        if (restricted && sslEngine == null) {
            ResumeOnly.begin();
        }
        long begin = GuardedEndpoint.cpuNanos();
        int result = 0;
        SSLException failure = null;
        try {
            result = super.handshake(read, write);
            return result;
        } catch (SSLException e) {
            failure = e;
            if (!restricted) {
                throw e;
            }
            result = REFUSED;
            return result;
        } finally {
            ResumeOnly.end();
            now.handshakeRan(GuardedEndpoint.cpuNanos() - begin);
            if (failure != null || result == -1 && sslEngine != null && sslEngine.isOutboundDone()) {
                now.connection().handshakeFailed();
            } else if (handshakeComplete) {
                now.connection().handshakeDone(sslEngine.getSession().getCreationTime());
            }
            if (result == REFUSED) {
                refuse(wrapper);
            }
        }
    }

    /** As early as can be for a claim that was not good: no Processor, no access log, no TLS close. */
    private void refuse(NioSocketWrapper wrapper) throws IOException {
        sslEngine = null;
        Guard guard = endpoint.active();
        if (guard != null && guard.alerts()) {
            sc.write(ByteBuffer.wrap(Guard.ALERT));
        }
        wrapper.close();
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
        greetingWrapper = null;
        Serving now = serving;
        if (now != null) {
            now.connection().closed();
        }
    }
}
