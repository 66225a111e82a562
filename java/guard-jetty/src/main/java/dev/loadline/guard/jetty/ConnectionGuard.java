package dev.loadline.guard.jetty;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.Mode;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.RequestGate;
import dev.loadline.guard.SlowHellos;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Guards the connections of one connector that speaks TLS, and their streams where they speak HTTP/2: {@code
 * ConnectionGuard.install(connector, "mode=observe")}, before the server starts. Everything else of the connector stays as it is.
 */
public final class ConnectionGuard {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final String HTTP_2 = "h2";

    /**
     * What lasts from the connector's start to its stop.
     *
     * @param streams null where there are none, or a {@link GuardHandler} has them
     */
    record Running(Guard guard, SlowHellos slow, boolean speaksTls13, RequestGate streams) {}

    private final ServerConnector connector;
    private final GuardSettings settings;
    private RequestClassifier classifier;
    private volatile Running running;

    private ConnectionGuard(ServerConnector connector, GuardSettings settings) {
        this.connector = connector;
        this.settings = settings;
    }

    /**
     * @param connector with its connection factories, one of which makes TLS connections
     * @param options see {@link GuardSettings#of}; empty: the defaults
     * @throws IllegalArgumentException saying which option is wrong, or that the connector does not speak TLS
     * @throws IllegalStateException when the server runs already
     */
    public static ConnectionGuard install(ServerConnector connector, String options) {
        var made = new ConnectionGuard(connector, GuardSettings.of(options)
            .withoutProxyProtocol("give the connector Jetty's ProxyConnectionFactory as its first, which the guard heeds"));
        if (connector.isRunning() || connector.getServer().isRunning()) {
            throw new IllegalStateException("loadline-guard: install it before the server starts: " + connector + " runs already");
        }
        made.takePlace();
        return made;
    }

    private void takePlace() {
        List<ConnectionFactory> factories = new ArrayList<>();
        boolean found = false;
        for (ConnectionFactory factory : connector.getConnectionFactories()) {
            boolean makesTls = factory instanceof SslConnectionFactory;
            factories.add(makesTls ? new GuardedConnectionFactory((SslConnectionFactory) factory, this) : factory);
            found |= makesTls;
        }
        if (!found) {
            throw new IllegalArgumentException("loadline-guard: the connector " + connector + " has no SslConnectionFactory of its own, only "
                + connector.getProtocols() + ": give it one, or guard its requests by a GuardHandler");
        }
        String first = connector.getDefaultProtocol();
        connector.setConnectionFactories(factories);
        connector.setDefaultProtocol(first);
        var requests = new ConnectionRequests(this);
        connector.getServer().addEventListener(new LifeCycle.Listener() {
            @Override
            public void lifeCycleStarting(LifeCycle server) { // its handlers are known now, and not started
                if (!connector.getServer().getDescendants(ConnectionRequests.class).contains(requests)) {
                    connector.getServer().insertHandler(requests);
                }
            }
        });
    }

    /** Who tells which requests and customers matter. */
    public void classifier(RequestClassifier classifier) {
        this.classifier = classifier;
        Guard now = guard();
        if (now != null) {
            now.classifier(classifier);
        }
    }

    /** The guard of this connector; null while it is not started. */
    public Guard guard() {
        Running now = running;
        return now == null ? null : now.guard;
    }

    /** That of its streams of HTTP/2, which follows it; null where there are none, or a {@link GuardHandler} has them. */
    public Guard streamGuard() {
        Running now = running;
        return now == null || now.streams == null ? null : now.streams.guard();
    }

    /** What it runs by, if it is on. */
    Running active() {
        Running now = running;
        return now == null || now.guard.mode() == Mode.OFF ? null : now;
    }

    void start(boolean speaksTls13) {
        var guard = new Guard("jetty-" + connector.getLocalPort(), settings);
        if (classifier != null) {
            guard.classifier(classifier);
        }
        RequestGate streams = streams(guard);
        if (connector.getExecutor() instanceof QueuedThreadPool pool) {
            guard.workerQueue(pool::getQueueSize);
            if (streams != null) {
                streams.workerQueue(pool::getQueueSize);
            }
        } else {
            LOG.log(System.Logger.Level.INFO, "loadline-guard: how many events wait for a thread is not known of " + connector.getExecutor()
                + ": overload is seen by what threads wait for a CPU alone, which a small pool of them hides");
        }
        guard.start();
        if (streams != null) {
            streams.start();
        }
        running = new Running(guard, new SlowHellos(guard), speaksTls13, streams);
    }

    private RequestGate streams(Guard guard) {
        if (!connector.getProtocols().contains(HTTP_2)) {
            return null;
        }
        if (!connector.getServer().getDescendants(GuardHandler.class).isEmpty()) {
            LOG.log(System.Logger.Level.INFO, "loadline-guard: streams of HTTP/2 are left to the GuardHandler that is there");
            return null;
        }
        return RequestGate.ofStreams(guard);
    }

    void stop() {
        Running now = running;
        running = null;
        if (now != null) {
            now.guard.close();
            if (now.streams != null) {
                now.streams.close();
            }
        }
    }
}
