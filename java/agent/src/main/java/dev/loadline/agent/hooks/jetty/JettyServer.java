package dev.loadline.agent.hooks.jetty;

import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import java.util.EventListener;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Hooks in one server: its handler, its connectors, and its servlets' contexts. */
public final class JettyServer implements Hook {
    private static final String DEFAULT_FACTORY = "_defaultConnectionFactory";
    private static final String JOBS = "_jobs";
    /** Of each Jakarta EE that has servlets of its own on Jetty 12. */
    private static final String SERVLETS = ".servlet.ServletContextHandler";

    private final Server server;
    private final Hooks.Access access;
    private final RecordedHandler handler;
    private final Closes closes = new Closes();
    /** What makes connections now. */
    private final Map<AbstractConnector, RecordedFactory> factories = new IdentityHashMap<>();
    private final Map<ContextHandler, EventListener> services = new IdentityHashMap<>();
    /** What waits for threads now, by pool. */
    private final Map<Executor, RecordedJobs> queues = new IdentityHashMap<>();

    private JettyServer(Server server, Hooks.Access access) {
        this.server = server;
        this.access = access;
        handler = new RecordedHandler(server.getHandler());
    }

    /** Puts the hooks into a server: called by name. */
    public static Hook into(Object server, Hooks.Access access) throws ReflectiveOperationException {
        access.open(Server.class);
        JettyServer hook = new JettyServer((Server) server, access);
        try {
            Fields.replace(server, "_handler", hook.handler.getHandler(), hook.handler);
            hook.look();
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            hook.remove();
            throw e;
        }
        return hook;
    }

    @Override
    public void refresh() {
        try {
            look();
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // they were there before
        }
    }

    private void look() throws ReflectiveOperationException {
        for (Connector connector : server.getConnectors()) {
            // What makes no connections of bytes, as QUIC's, has none to be told of.
            if (connector instanceof AbstractConnector && connector.isRunning() && !factories.containsKey(connector)) {
                connect((AbstractConnector) connector);
            }
        }
        for (ContextHandler context : server.getDescendants(ContextHandler.class)) {
            if (!services.containsKey(context) && hasServlets(context.getClass())) {
                EventListener listener = (EventListener) access
                        .beside(context.getClass(), "servlet.", "ServiceListener").getConstructor().newInstance();
                services.put(context, listener);
                context.addEventListener(listener);
            }
        }
    }

    private void connect(AbstractConnector connector) throws ReflectiveOperationException {
        ConnectionFactory factory = connector.getDefaultConnectionFactory();
        if (factory == null) {
            return; // it is about to stop
        }
        queue(connector.getExecutor());
        RecordedFactory recorded = new RecordedFactory(factory);
        factories.put(connector, recorded);
        connector.addEventListener(closes); // connections to come take it over
        for (EndPoint endPoint : connector.getConnectedEndPoints()) {
            if (endPoint.getConnection() != null) { // else it is about to have one
                endPoint.getConnection().addEventListener(closes);
            }
        }
        Fields.replace(connector, DEFAULT_FACTORY, factory, recorded);
    }

    @SuppressWarnings("unchecked")
    private void queue(Executor pool) throws ReflectiveOperationException {
        if (pool instanceof QueuedThreadPool && !queues.containsKey(pool)) {
            BlockingQueue<Runnable> jobs = (BlockingQueue<Runnable>) Fields.get(pool, JOBS);
            if (!(jobs instanceof RecordedJobs)) { // else another server has the same pool, and has seen to it
                RecordedJobs recorded = new RecordedJobs(jobs);
                queues.put(pool, recorded);
                Fields.replace(pool, JOBS, jobs, recorded);
            }
        }
    }

    private static boolean hasServlets(Class<?> context) {
        for (Class<?> type = context; type != null; type = type.getSuperclass()) {
            if (type.getName().endsWith(SERVLETS)) {
                return true;
            }
        }
        return false;
    }

    /** First what is within a visit: so none of its requests finds itself in none. */
    @Override
    public void remove() {
        services.forEach(ContextHandler::removeEventListener);
        try {
            Fields.replace(server, "_handler", handler, handler.getHandler());
            for (Map.Entry<Executor, RecordedJobs> entry : queues.entrySet()) {
                Fields.replace(entry.getKey(), JOBS, entry.getValue(), entry.getValue().jobs);
            }
            for (Map.Entry<AbstractConnector, RecordedFactory> entry : factories.entrySet()) {
                AbstractConnector connector = entry.getKey();
                Fields.replace(connector, DEFAULT_FACTORY, entry.getValue(), entry.getValue().factory);
                connector.removeEventListener(closes);
                for (EndPoint endPoint : connector.getConnectedEndPoints()) {
                    if (endPoint.getConnection() != null) {
                        endPoint.getConnection().removeEventListener(closes);
                    }
                }
            }
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // they were set
        }
    }

    @Override
    public boolean isServer() {
        return true;
    }

    /** The socket's end point, behind those for TLS, a proxy's header or ours: what a connection is known by. */
    static EndPoint socket(EndPoint endPoint) {
        EndPoint at = endPoint;
        while (at instanceof EndPoint.Wrapper) {
            at = ((EndPoint.Wrapper) at).unwrap();
        }
        return at;
    }

    /** Tells of connections that close. One that another takes over from is not the socket's end. */
    private static final class Closes implements Connection.Listener {
        @Override
        public void onClosed(Connection connection) {
            EndPoint socket = socket(connection.getEndPoint());
            if (socket.getConnection() == connection && !socket.isOpen()) {
                ServerProbes.connectionClose(socket);
            }
        }
    }
}
