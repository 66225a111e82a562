package dev.loadline.auction.fault;

import dev.loadline.auction.web.ConnectorExtension;
import java.util.Optional;

/** No keep-alive and no way to resume a session: every request brings a connection with a full handshake. */
final class HandshakeStorm extends Fault {
    HandshakeStorm(String name) {
        super(name);
        // Read once, when the first TLS context is made: without tickets a session lives in the server's cache.
        System.setProperty("jdk.tls.server.enableSessionTicketExtension", "false");
    }

    @Override
    public Optional<ConnectorExtension> connector() {
        return Optional.of(connector -> {
            connector.setProperty("maxKeepAliveRequests", "1");
            for (var host : connector.findSslHostConfigs()) {
                // Sessions live for a second, and one of them at a time.
                host.setSessionTimeout(1);
                host.setSessionCacheSize(1);
            }
        });
    }
}
