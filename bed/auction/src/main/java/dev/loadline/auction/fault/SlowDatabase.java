package dev.loadline.auction.fault;

import dev.loadline.bed.SlowRelay;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.h2.tools.Server;

/**
 * A database behind a slow network: what it answers arrives 4 ms late. Between site and database stands a
 * relay; H2, which has no socket by itself, gets one.
 */
final class SlowDatabase extends Fault {
    private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(4);
    private static final String H2 = "jdbc:h2:";

    private Server h2;
    private SlowRelay relay;

    SlowDatabase(String name) {
        super(name);
    }

    @Override
    public String reach(String url) throws IOException {
        if (url.startsWith(H2)) {
            try {
                h2 = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
            } catch (java.sql.SQLException e) {
                throw new IOException("H2's server: " + e.getMessage(), e);
            }
            relay = new SlowRelay(h2.getPort(), DELAY_NANOS);
            return H2 + "tcp://" + own() + "/" + url.substring(H2.length());
        }
        var address = URI.create(url.substring("jdbc:".length()));
        relay = new SlowRelay(address.getPort(), DELAY_NANOS);
        return url.replace(address.getHost() + ":" + address.getPort(), own());
    }

    private String own() {
        return "127.0.0.1:" + relay.port();
    }

    /** After the pool's connections, which go through it. */
    @Override
    public void afterDatabase() {
        try {
            if (relay != null) {
                relay.close();
            }
        } catch (IOException e) {
            System.err.println("auction: closing the relay: " + e.getMessage());
        }
        if (h2 != null) {
            h2.stop();
        }
    }
}
