package dev.loadline.guard.jetty;

import java.nio.ByteBuffer;
import java.util.List;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.AbstractConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.SslConnectionFactory;

/** In the place of the factory of TLS connections, under its name: whatever comes before it in the connector comes here. */
final class GuardedConnectionFactory extends AbstractConnectionFactory implements ConnectionFactory.Detecting, ConnectionFactory.Configuring {
    private final SslConnectionFactory tls;
    private final ConnectionGuard owner;

    GuardedConnectionFactory(SslConnectionFactory tls, ConnectionGuard owner) {
        super(tls.getProtocol());
        this.tls = tls;
        this.owner = owner;
        addBean(tls);
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        owner.start(List.of(tls.getSslContextFactory().newSSLEngine().getEnabledProtocols()).contains("TLSv1.3"));
    }

    @Override
    protected void doStop() throws Exception {
        try {
            super.doStop();
        } finally {
            owner.stop();
        }
    }

    @Override
    public void configure(Connector connector) {
        tls.configure(connector);
    }

    @Override
    public Detection detect(ByteBuffer buffer) {
        return tls.detect(buffer);
    }

    @Override
    public Connection newConnection(Connector connector, EndPoint endPoint) {
        ConnectionGuard.Running running = owner.active();
        return running == null ? tls.newConnection(connector, endPoint) : new HelloConnection(connector, endPoint, tls, running);
    }
}
