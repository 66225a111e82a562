package dev.loadline.guard.undertow;

import dev.loadline.guard.Action;
import dev.loadline.guard.EngineLimit;
import dev.loadline.guard.Greeting;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.Serving;
import dev.loadline.guard.cpu.VirtualThreads;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;

/**
 * The engine of a connection that Undertow accepted: hears the hello out of the bytes that it is given to unwrap, and leaves them where
 * they are until it is whole and decided about; then it is JSSE's, or refuses. Undertow calls it on the connection's I/O thread, and
 * computes what JSSE delegates on a worker.
 */
final class GuardedEngine extends DelegatingEngine {
    private static final SSLEngineResult NEEDS_MORE = new SSLEngineResult(Status.BUFFER_UNDERFLOW, HandshakeStatus.NEED_UNWRAP, 0, 0);
    private static final SSLEngineResult NOTHING_YET = new SSLEngineResult(Status.OK, HandshakeStatus.NEED_UNWRAP, 0, 0);
    private static final SSLEngineResult CLOSED = new SSLEngineResult(Status.CLOSED, HandshakeStatus.NOT_HANDSHAKING, 0, 0);

    /** Undertow then writes what there is to say, and closes. Costs no stack trace: there may be thousands a second. */
    private static final class RefusedException extends SSLException {
        RefusedException() {
            super("loadline-guard: refused");
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private enum State { GREETING, SERVING, ALERTING, REFUSED }

    private final ConnectionGuard owner;
    private final GuardedConnection connection;
    private final Serving serving;
    private final Greeting greeting = new Greeting();
    private volatile State state = State.GREETING;
    /** Bytes that it has heard already, at the beginning of those that it is given. */
    private int heard;
    private boolean begun;
    private volatile boolean handshaking = true;
    private volatile boolean inboundClosed;
    private volatile boolean outboundClosed;

    GuardedEngine(SSLEngine tls, InetAddress client, int port, ConnectionGuard owner) {
        super(tls, client.getHostAddress(), port);
        this.owner = owner;
        connection = owner.guard().connection(client);
        serving = new Serving(connection);
    }

    ConnectionGuard owner() {
        return owner;
    }

    Serving serving() {
        return serving;
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer from, ByteBuffer[] to, int offset, int length) throws SSLException {
        if (state == State.GREETING) {
            Action decided = hear(from);
            if (decided == null) {
                return NEEDS_MORE;
            }
            act(decided);
        }
        if (state != State.SERVING) {
            return CLOSED;
        }
        return handshaking ? handshakes(() -> tls.unwrap(from, to, offset, length)) : tls.unwrap(from, to, offset, length);
    }

    private Action hear(ByteBuffer from) {
        try {
            owner.runsOnThisThread();
            ByteBuffer fresh = from.duplicate();
            fresh.position(fresh.position() + Math.min(heard, fresh.remaining()));
            boolean speaksTls13 = List.of(tls.getEnabledProtocols()).contains("TLSv1.3");
            Action decided = greeting.hear(fresh, owner.guard(), connection, speaksTls13, true);
            heard = from.remaining();
            // No client's hello fills Undertow's buffer, and for one that does no more would ever come.
            return decided == null && heard == from.capacity() ? Action.CLOSE : decided;
        } catch (RuntimeException | Error e) {
            owner.guard().failed(e);
            return Action.SERVE;
        }
    }

    private void act(Action decided) throws SSLException {
        switch (decided) {
            case SERVE, SERVE_RESUMED_ONLY, SERVE_PAGE -> {
                EngineLimit limit = EngineLimit.of(decided, connection);
                if (limit != null) {
                    limit.tell(tls);
                }
                state = State.SERVING;
                if (begun) {
                    tls.beginHandshake();
                }
            }
            case ALERT -> {
                state = State.ALERTING;
                throw new RefusedException();
            }
            case CLOSE -> {
                state = State.REFUSED;
                throw new RefusedException();
            }
        }
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer to) throws SSLException {
        return switch (state) {
            case GREETING -> outboundClosed ? CLOSED : NOTHING_YET;
            case SERVING -> handshaking ? handshakes(() -> tls.wrap(sources, offset, length, to)) : tls.wrap(sources, offset, length, to);
            case ALERTING -> {
                if (to.remaining() < Guard.ALERT.length) {
                    yield new SSLEngineResult(Status.BUFFER_OVERFLOW, HandshakeStatus.NEED_WRAP, 0, 0);
                }
                to.put(Guard.ALERT);
                state = State.REFUSED;
                yield new SSLEngineResult(Status.CLOSED, HandshakeStatus.NOT_HANDSHAKING, 0, Guard.ALERT.length);
            }
            case REFUSED -> CLOSED;
        };
    }

    private interface Step {
        SSLEngineResult go() throws SSLException;
    }

    /** A part of the handshake, on this thread. */
    private SSLEngineResult handshakes(Step step) throws SSLException {
        boolean asked = connection.handshakeStandsFor() > 0;
        long begin = asked ? VirtualThreads.threadNanos() : 0;
        SSLEngineResult result = null;
        try {
            result = step.go();
        } finally {
            if (asked) {
                connection.handshakeRan(VirtualThreads.threadNanos() - begin);
            }
            if (result == null) {
                handshaking = false;
                connection.handshakeFailed();
            }
        }
        if (result.getHandshakeStatus() == HandshakeStatus.FINISHED) {
            handshaking = false;
            connection.handshakeDone(tls.getSession().getCreationTime());
        }
        return result;
    }

    /** Undertow gives it to a worker at once. */
    @Override
    public Runnable getDelegatedTask() {
        Runnable task = tls.getDelegatedTask();
        if (task == null || !handshaking) {
            return task;
        }
        connection.dispatched();
        return () -> {
            serving.goOn();
            try {
                task.run();
            } finally {
                serving.handshakeRanSoFar();
                serving.end();
            }
        };
    }

    @Override
    public void beginHandshake() throws SSLException {
        begun = true;
        if (state == State.SERVING) {
            tls.beginHandshake();
        }
    }

    @Override
    public HandshakeStatus getHandshakeStatus() {
        return switch (state) {
            case GREETING -> HandshakeStatus.NEED_UNWRAP;
            case SERVING -> tls.getHandshakeStatus();
            case ALERTING -> HandshakeStatus.NEED_WRAP;
            case REFUSED -> HandshakeStatus.NOT_HANDSHAKING;
        };
    }

    @Override
    public SSLSession getSession() {
        return new GuardedSession(tls.getSession(), this);
    }

    @Override
    public boolean isInboundDone() {
        return state == State.SERVING ? tls.isInboundDone() : state != State.GREETING || inboundClosed;
    }

    @Override
    public boolean isOutboundDone() {
        return state == State.SERVING ? tls.isOutboundDone() : state == State.REFUSED || outboundClosed;
    }

    /** Undertow closes both ways of each connection, whatever ends it. */
    @Override
    public void closeInbound() throws SSLException {
        inboundClosed = true;
        over();
        if (state == State.SERVING) {
            tls.closeInbound();
        }
    }

    @Override
    public void closeOutbound() {
        outboundClosed = true;
        over();
        tls.closeOutbound();
    }

    private void over() {
        if (inboundClosed && outboundClosed) {
            connection.closed();
        }
    }
}
