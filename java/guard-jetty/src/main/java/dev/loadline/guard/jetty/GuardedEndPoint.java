package dev.loadline.guard.jetty;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.Serving;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslHandshakeListener;
import org.eclipse.jetty.server.ProxyConnectionFactory;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;

/**
 * Between the socket and TLS of a connection that was let in: gives back what was read of it, and tells the guard of each event, on
 * the thread that runs it. The first one waits for its turn before it goes to a worker.
 */
final class GuardedEndPoint extends ProxyConnectionFactory.ProxyEndPoint implements SslHandshakeListener, Connection.Listener {
    private final Guard guard;
    private final Serving serving;
    private final Executor workers;
    private volatile ByteBuffer held;
    private boolean begun;
    private volatile boolean handshaking = true;

    GuardedEndPoint(EndPoint socket, Guard guard, Serving serving, Executor workers, ByteBuffer held) {
        super(socket, socket.getLocalSocketAddress(), socket.getRemoteSocketAddress());
        this.guard = guard;
        this.serving = serving;
        this.workers = workers;
        this.held = held;
    }

    Guard guard() {
        return guard;
    }

    GuardedConnection connection() {
        return serving.connection();
    }

    @Override
    public int fill(ByteBuffer buffer) throws IOException {
        ByteBuffer first = held;
        if (first == null) {
            return super.fill(buffer);
        }
        int filled = BufferUtil.append(buffer, first);
        if (!first.hasRemaining()) {
            held = null;
        }
        return filled;
    }

    @Override
    public void fillInterested(Callback callback) {
        if (held == null) {
            super.fillInterested(new Event(callback));
        } else {
            begin(new Event(callback));
        }
    }

    @Override
    public boolean tryFillInterested(Callback callback) {
        if (held == null) {
            return super.tryFillInterested(new Event(callback));
        }
        begin(new Event(callback));
        return true;
    }

    /** There is something to read already. */
    private void begin(Event event) {
        if (begun) {
            toWorker(event); // a hello that is longer than a buffer of Jetty's
            return;
        }
        begun = true;
        connection().dispatched();
        if (!serving.waits(guard, System.identityHashCode(this), () -> toWorker(event))) {
            toWorker(event);
        }
    }

    private void toWorker(Event event) {
        connection().queued();
        try {
            workers.execute(event::succeeded);
        } catch (RejectedExecutionException e) { // it stops, or takes nothing more
            serving.turnOver();
            close(e);
        }
    }

    private final class Event extends Callback.Nested {
        Event(Callback callback) {
            super(callback);
        }

        @Override
        public void succeeded() {
            connection().dispatched();
            serving.begin();
            try {
                super.succeeded();
            } finally {
                if (handshaking) {
                    serving.handshakeRanSoFar();
                }
                serving.end();
            }
        }
    }

    @Override
    public void handshakeSucceeded(SslHandshakeListener.Event event) {
        if (handshakeOver()) {
            connection().handshakeDone(event.getSSLEngine().getSession().getCreationTime());
        }
    }

    @Override
    public void handshakeFailed(SslHandshakeListener.Event event, Throwable failure) {
        if (handshakeOver()) {
            connection().handshakeFailed();
        }
    }

    private boolean handshakeOver() {
        if (!handshaking) {
            return false;
        }
        handshaking = false;
        if (Serving.current() == connection()) {
            serving.handshakeRanSoFar();
        }
        return true;
    }

    /** The connection of TLS is closed. */
    @Override
    public void onClosed(Connection tls) {
        serving.turnOver();
        connection().closed();
    }
}
