package dev.loadline.agent.hooks.jetty;

import dev.loadline.agent.boot.ServerProbes;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.io.ssl.SslHandshakeListener;
import org.eclipse.jetty.server.ProxyConnectionFactory;
import org.eclipse.jetty.util.Callback;

/** A socket's end point whose events, what its connection does when there is something to read, are visits; with its handshake. */
final class RecordedEndPoint extends ProxyConnectionFactory.ProxyEndPoint implements SslHandshakeListener {
    private final EndPoint socket;
    private final long openedMillis = System.currentTimeMillis();
    /** The last one: a connection is interested with the same callback each time. */
    private Event event;
    private SslConnection tls;
    private volatile boolean handshakeDone;

    RecordedEndPoint(EndPoint socket) {
        super(socket, socket.getLocalSocketAddress(), socket.getRemoteSocketAddress());
        this.socket = socket;
        ServerProbes.connectionOpen(socket, socket.getRemoteSocketAddress());
    }

    /** Whether a connection is on one of these, perhaps with others, as for a proxy's header, in between. */
    static boolean isUnder(Connection connection) {
        EndPoint at = connection == null ? null : connection.getEndPoint();
        while (at instanceof EndPoint.Wrapper && !(at instanceof RecordedEndPoint)) {
            at = ((EndPoint.Wrapper) at).unwrap();
        }
        return at instanceof RecordedEndPoint;
    }

    @Override
    public void fillInterested(Callback callback) {
        super.fillInterested(recorded(callback));
    }

    @Override
    public boolean tryFillInterested(Callback callback) {
        return super.tryFillInterested(recorded(callback));
    }

    private Event recorded(Callback callback) {
        Event last = event;
        if (last == null || last.getCallback() != callback) {
            last = new Event(callback);
            event = last;
        }
        return last;
    }

    /** There is something to read. */
    private final class Event extends Callback.Nested {
        Event(Callback callback) {
            super(callback);
        }

        @Override
        public void succeeded() {
            long visit = ServerProbes.visitBegin(socket);
            try {
                if (!handshakeDone) {
                    handshake(getConnection());
                }
                super.succeeded();
            } finally {
                ServerProbes.visitEnd(visit);
            }
        }
    }

    private void handshake(Connection connection) {
        if (connection instanceof SslConnection) {
            if (tls == null) {
                tls = (SslConnection) connection;
                tls.addHandshakeListener(this);
            }
            ServerProbes.engineShakesHands(tls.getSSLEngine());
        }
    }

    @Override
    public void handshakeSucceeded(SslHandshakeListener.Event its) {
        if (!handshakeDone) {
            handshakeDone = true;
            ServerProbes.engineIsDone(true, its.getSSLEngine().getSession(), openedMillis);
        }
    }

    @Override
    public void handshakeFailed(SslHandshakeListener.Event its, Throwable failure) {
        if (!handshakeDone) {
            handshakeDone = true;
            ServerProbes.engineIsDone(false, false);
        }
    }
}
