package dev.loadline.agent.hooks.jetty;

import java.util.List;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;

/** Makes a connector's connections as the factory before it does, each on an end point that tells of its events. */
final class RecordedFactory implements ConnectionFactory {
    final ConnectionFactory factory;

    RecordedFactory(ConnectionFactory factory) {
        this.factory = factory;
    }

    @Override
    public String getProtocol() {
        return factory.getProtocol();
    }

    @Override
    public List<String> getProtocols() {
        return factory.getProtocols();
    }

    @Override
    public Connection newConnection(Connector connector, EndPoint endPoint) {
        return factory.newConnection(connector, new RecordedEndPoint(endPoint));
    }

    @Override
    public String toString() {
        return factory.toString();
    }
}
