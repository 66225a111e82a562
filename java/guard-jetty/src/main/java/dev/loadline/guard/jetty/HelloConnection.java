package dev.loadline.guard.jetty;

import dev.loadline.guard.Action;
import dev.loadline.guard.EngineLimit;
import dev.loadline.guard.Greeting;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.Serving;
import dev.loadline.guard.SlowHellos;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.eclipse.jetty.io.AbstractConnection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.BufferUtil;

/**
 * A client that has not said hello: reads, and becomes the connection that Jetty would have made at once, if it is let in. On the thread
 * that accepted it, where a busy server finds the hello there already, or on the selector's; never blocks. Who hears it holds its
 * monitor, so that nobody closes it meanwhile for being slow.
 */
final class HelloConnection extends AbstractConnection implements SlowHellos.Greeter, Connection.UpgradeTo {
    private static final int FIRST_BYTES = 2_048;

    private final Connector connector;
    private final SslConnectionFactory tls;
    private final ConnectionGuard.Running running;
    private final GuardedConnection connection;
    private final Greeting greeting = new Greeting();
    private final long beginNanos = System.nanoTime();
    /** All that was read, as Jetty has its buffers: between position and limit. */
    private ByteBuffer read = BufferUtil.allocate(FIRST_BYTES);
    /** How much of that has been heard. */
    private int heard;
    private volatile boolean awaited = true;
    private volatile boolean goesOn;

    HelloConnection(Connector connector, EndPoint endPoint, SslConnectionFactory tls, ConnectionGuard.Running running) {
        super(endPoint, connector.getExecutor());
        this.connector = connector;
        this.tls = tls;
        this.running = running;
        connection = running.guard().connection(endPoint.getRemoteSocketAddress() instanceof InetSocketAddress inet
            ? inet.getAddress() : InetAddress.getLoopbackAddress());
    }

    @Override
    public InvocationType getInvocationType() {
        return InvocationType.NON_BLOCKING; // so that the selector's thread calls it
    }

    /** Another connection was before it, that of the PROXY protocol, and has read beyond its own bytes. */
    @Override
    public void onUpgradeTo(ByteBuffer left) {
        read = BufferUtil.ensureCapacity(read, left.remaining());
        BufferUtil.append(read, left);
    }

    @Override
    public void onOpen() {
        super.onOpen();
        if (!hear()) {
            running.slow().add(this);
        }
    }

    @Override
    public void onFillable() {
        if (hear()) {
            running.slow().remove(this);
        }
    }

    /** @return whether there is nothing more to hear */
    private boolean hear() {
        Action decided;
        synchronized (this) {
            if (!awaited) {
                return true; // it was too slow, and has been closed at this moment
            }
            decided = decide();
            awaited = decided == null;
        }
        if (decided == null) {
            fillInterested();
            return false;
        }
        try {
            act(decided);
        } catch (IOException | RuntimeException e) {
            getEndPoint().close(e);
        }
        return true;
    }

    private Action decide() {
        try {
            Action decided = read.hasRemaining() ? hearRead() : null;
            while (decided == null) {
                if (BufferUtil.space(read) == 0) {
                    read = BufferUtil.ensureCapacity(read, 2 * read.capacity());
                }
                int filled = getEndPoint().fill(read);
                if (filled <= 0) {
                    return filled < 0 ? Action.CLOSE : null;
                }
                decided = hearRead();
            }
            return decided;
        } catch (IOException e) {
            return Action.CLOSE; // the client is gone
        } catch (RuntimeException | Error e) {
            running.guard().failed(e);
            return Action.SERVE;
        }
    }

    private Action hearRead() {
        ByteBuffer fresh = read.duplicate();
        fresh.position(fresh.position() + heard);
        heard = read.remaining();
        return greeting.hear(fresh, running.guard(), connection, running.speaksTls13(), true);
    }

    private void act(Action decided) throws IOException {
        switch (decided) {
            case SERVE, SERVE_RESUMED_ONLY, SERVE_PAGE -> goOn(decided);
            case ALERT -> {
                getEndPoint().flush(ByteBuffer.wrap(Guard.ALERT)); // seven bytes fit the empty buffer of a new socket
                getEndPoint().close();
            }
            case CLOSE -> getEndPoint().close();
        }
    }

    private void goOn(Action decided) {
        var seen = new GuardedEndPoint(getEndPoint(), running.guard(), new Serving(connection), getExecutor(), read);
        var next = (SslConnection) tls.newConnection(connector, seen);
        EngineLimit limit = EngineLimit.of(decided, connection);
        if (limit != null) {
            limit.tell(next.getSSLEngine());
        }
        next.addHandshakeListener(seen);
        next.addEventListener(seen);
        goesOn = true;
        getEndPoint().upgrade(next);
    }

    @Override
    public boolean greeting() {
        return awaited;
    }

    @Override
    public boolean timeOut(long nowNanos, long limitNanos) {
        synchronized (this) {
            if (!awaited || nowNanos - beginNanos <= limitNanos) {
                return false;
            }
            awaited = false;
        }
        getEndPoint().close();
        return true;
    }

    /** Also called when it becomes another one. */
    @Override
    public void onClose(Throwable cause) {
        super.onClose(cause);
        if (!goesOn) {
            awaited = false;
            running.slow().remove(this);
            connection.closed();
        }
    }
}
