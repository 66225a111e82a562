package dev.loadline.guard.tomcat;

import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.ProxyHeader;
import dev.loadline.guard.Serving;
import dev.loadline.guard.SlowHellos;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;

/**
 * One connection. What is known of it is here and not in its channel, which Tomcat takes for another connection as
 * soon as this one is closed, perhaps while another thread still has an event of this one.
 *
 * <p>The poller comes to know it only when somebody waits for its next bytes: one whose hello was there when it was
 * accepted goes to a worker, or is closed, before that.
 */
final class GuardedSocketWrapper extends NioSocketWrapper implements SlowHellos.Greeter {
    private volatile boolean registered;
    private volatile Serving serving;
    private volatile boolean greeting;
    private volatile long greetedAtNanos;
    /** What a trusted proxy said of its client; null: nothing, it is of who opened it. */
    private volatile ProxyHeader client;

    GuardedSocketWrapper(NioChannel channel, NioEndpoint endpoint) {
        super(channel, endpoint);
    }

    /**
     * It begins; its hello is awaited.
     *
     * @param connection null: before that it is to be said whose it is ({@link #isOf})
     */
    void greet(GuardedConnection connection) {
        serving = connection == null ? null : new Serving(connection);
        greetedAtNanos = System.nanoTime();
        greeting = true;
    }

    /**
     * Its proxy has said whose it is.
     *
     * @param connection null while the guard is off
     */
    void isOf(ProxyHeader header, GuardedConnection connection) {
        client = header.client() == null ? null : header;
        serving = connection == null ? null : new Serving(connection);
    }

    @Override
    protected void populateRemoteAddr() {
        if (client == null) {
            super.populateRemoteAddr();
        } else {
            remoteAddr = client.client().getHostAddress();
        }
    }

    @Override
    protected void populateRemoteHost() {
        if (client == null) {
            super.populateRemoteHost();
        } else {
            remoteHost = client.client().getHostName();
            remoteAddr = client.client().getHostAddress();
        }
    }

    @Override
    protected void populateRemotePort() {
        if (client == null) {
            super.populateRemotePort();
        } else {
            remotePort = client.port();
        }
    }

    /** Whether its hello is awaited. Who acts on that holds the monitor meanwhile. */
    @Override
    public boolean greeting() {
        return greeting;
    }

    /** It has said hello, or never will. */
    void greeted() {
        greeting = false;
    }

    @Override
    public boolean timeOut(long nowNanos, long limitNanos) {
        synchronized (this) {
            if (!greeting || nowNanos - greetedAtNanos <= limitNanos) {
                return false;
            }
            greeting = false;
        }
        close();
        return true;
    }

    /** Its runs on worker threads; null where the guard was off when it began, and until its proxy has said whose it is. */
    Serving serving() {
        return serving;
    }

    /** Makes the poller wait for bytes; once. */
    void register() {
        registered = true;
        getPoller().register(this);
    }

    @Override
    public void registerReadInterest() {
        if (registered) {
            super.registerReadInterest();
        } else {
            register();
        }
    }

    @Override
    public void registerWriteInterest() {
        if (!registered) {
            register();
        }
        super.registerWriteInterest();
    }
}
