package dev.loadline.auction.fault;

import dev.loadline.auction.web.ConnectorExtension;
import java.util.Optional;

/** A few connections are served at a time and the kernel may keep one more waiting: it drops the others, unseen by the site. */
final class AcceptOverflow extends Fault {
    static final int CONNECTIONS = 8;

    AcceptOverflow(String name) {
        super(name);
    }

    @Override
    public Optional<ConnectorExtension> connector() {
        return Optional.of(connector -> {
            connector.setProperty("maxConnections", Integer.toString(CONNECTIONS));
            connector.setProperty("acceptCount", "1");
        });
    }
}
