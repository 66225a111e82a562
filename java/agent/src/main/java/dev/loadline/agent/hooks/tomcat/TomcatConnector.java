package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.apache.catalina.Pipeline;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.CoyoteAdapter;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.Adapter;
import org.apache.coyote.ProtocolHandler;
import org.apache.coyote.ajp.AjpNioProtocol;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.net.AbstractEndpoint;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/** Hooks in one connector: its endpoint, and the pipeline behind it. */
public final class TomcatConnector implements Hook {
    private static final String[] CONTEXTS = {"sslContextProvided", "sslContextGenerated", "sslContext"};

    private final AbstractEndpoint<Object, ?> endpoint;
    private final Executor executor;
    private final Executor recordedExecutor;
    private final AbstractEndpoint.Handler<Object> handler;
    private final AbstractEndpoint.Handler<Object> recordedHandler;
    private final Object connections;
    private final Object recordedConnections;
    private final Connector connector;
    private final Pipeline pipeline;
    private final RequestValve valve;
    private final Visits visits;
    /** Whether there are engines of OpenSSL's, which cannot tell whether a handshake resumed a session. */
    private boolean openSsl;
    /** Whether its service has connectors that have no hooks. */
    private boolean unhooked;

    private TomcatConnector(AbstractEndpoint<Object, ?> endpoint, Hooks.Access access)
            throws ReflectiveOperationException {
        this.endpoint = endpoint;
        handler = endpoint.getHandler();
        AbstractProtocol<?> protocol = (AbstractProtocol<?>) Fields.get(handler, "proto");
        connector = (Connector) Fields.get(coyote(protocol.getAdapter(), access), "connector");
        pipeline = connector.getService().getContainer().getPipeline();
        valve = new RequestValve(connector);
        executor = endpoint.getExecutor();
        visits = new Visits();
        recordedExecutor = executor instanceof ThreadPoolExecutor
                ? new RecordedPool((ThreadPoolExecutor) executor, visits) : new RecordedExecutor(executor, visits);
        recordedHandler = new RecordedHandler(handler, visits);
        connections = Fields.get(endpoint, "connections");
        recordedConnections = new RecordedConnections(asMap(connections), visits, endpoint.isSSLEnabled());
    }

    /** Puts the hooks into an endpoint: called by name. */
    @SuppressWarnings("unchecked")
    public static Hook into(Object endpoint, Hooks.Access access) throws ReflectiveOperationException {
        for (Class<?> type : new Class<?>[] {AbstractEndpoint.class, AbstractProtocol.class, CoyoteAdapter.class}) {
            access.open(type);
        }
        TomcatConnector connector = new TomcatConnector((AbstractEndpoint<Object, ?>) endpoint, access);
        connector.put();
        return connector;
    }

    /** Those of NIO2 and APR have no thread that leads to them. */
    private static boolean canBeHooked(Connector connector) {
        ProtocolHandler protocol = connector.getProtocolHandler();
        return protocol instanceof Http11NioProtocol || protocol instanceof AjpNioProtocol;
    }

    /** Tomcat's own adapter: the protocol's, or behind one that was put before it, as our guard does. */
    private static CoyoteAdapter coyote(Adapter adapter, Hooks.Access access) throws ReflectiveOperationException {
        Adapter at = adapter;
        while (!(at instanceof CoyoteAdapter)) {
            access.open(at.getClass());
            Adapter behind = null;
            for (Field field : at.getClass().getDeclaredFields()) {
                if (Adapter.class.isAssignableFrom(field.getType())) {
                    behind = (Adapter) Fields.get(at, field.getName());
                }
            }
            if (behind == null || behind == adapter) {
                throw new NoSuchFieldException("an adapter in " + at.getClass().getName());
            }
            at = behind;
        }
        return (CoyoteAdapter) at;
    }

    private void put() throws ReflectiveOperationException {
        try {
            pipeline.addValve(valve);
            endpoint.setHandler(recordedHandler);
            Fields.replace(endpoint, "executor", executor, recordedExecutor);
            Fields.replace(endpoint, "connections", connections, recordedConnections);
            refresh();
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            remove();
            throw e;
        }
    }

    @Override
    public void refresh() {
        List<Connector> all = List.of(connector.getService().findConnectors());
        List<Connector> hooked = all.stream().filter(TomcatConnector::canBeHooked).collect(Collectors.toList());
        unhooked = all.size() > hooked.size();
        if (!hooked.isEmpty() && hooked.get(0) == connector) {
            valve.others = all.stream().filter(other -> !hooked.contains(other)).collect(Collectors.toSet());
        }
        for (SSLHostConfig host : endpoint.findSslHostConfigs()) {
            for (SSLHostConfigCertificate certificate : host.getCertificates()) {
                openSsl |= hasOpenSsl(certificate);
            }
        }
    }

    @Override
    public void remove() {
        pipeline.removeValve(valve); // first what is within a visit: so none of its requests finds itself in none
        if (endpoint.getHandler() == recordedHandler) {
            endpoint.setHandler(handler);
        }
        try {
            Fields.replace(endpoint, "connections", recordedConnections, connections);
            Fields.replace(endpoint, "executor", recordedExecutor, executor);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // they were set
        }
    }

    @Override
    public boolean isServer() {
        return true;
    }

    @Override
    public Set<String> unseen() {
        Set<String> unseen = new HashSet<>();
        if (openSsl) {
            unseen.add("openssl");
        }
        if (unhooked) {
            unseen.add("tomcat-connectors");
        }
        return unseen;
    }

    /** Whether one of a certificate's contexts is OpenSSL's: which fields there are depends on Tomcat's version. */
    private static boolean hasOpenSsl(SSLHostConfigCertificate certificate) {
        for (String name : CONTEXTS) {
            try {
                Object context = Fields.get(certificate, name);
                if (context != null && context.getClass().getName().contains(".openssl.")) {
                    return true;
                }
            } catch (NoSuchFieldException otherVersion) {
                continue;
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(impossible); // the field is accessible
            }
        }
        return false;
    }

    @SuppressWarnings("unchecked")
    private static Map<Object, Object> asMap(Object connections) {
        return (Map<Object, Object>) connections;
    }
}
