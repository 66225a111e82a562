package dev.loadline.auction;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.auction.data.Dialect;
import dev.loadline.auction.data.Rowsum;
import dev.loadline.auction.data.server.PrivateServer;
import java.util.EnumMap;
import java.util.Map;

/** One small site per database, started when first asked for. The system property auction.databases limits which. */
final class Sites {
    private static final Map<Dialect, Auction> SITES = new EnumMap<>(Dialect.class);
    private static final Map<Dialect, Long> ROWSUMS = new EnumMap<>(Dialect.class);

    private Sites() {
    }

    /** Skips the calling test, visibly, where the database's server is not installed. */
    static synchronized Auction on(Dialect dialect) throws Exception {
        assumeInstalled(dialect);
        Auction site = SITES.get(dialect);
        if (site == null) {
            site = Auction.start(Config.defaults().port(0).size(400, 100, 60).database(dialect));
            ROWSUMS.put(dialect, Rowsum.of(site.source()));
            SITES.put(dialect, site);
        }
        return site;
    }

    static void assumeInstalled(Dialect dialect) {
        String wanted = System.getProperty("auction.databases", "h2,mariadb,postgresql");
        assumeTrue(wanted.contains(Option.lower(dialect)), "limited to " + wanted);
        boolean installed = switch (dialect) {
            case H2 -> true;
            case MARIADB -> PrivateServer.hasMariaDb();
            case POSTGRESQL -> PrivateServer.hasPostgreSql();
        };
        if (!installed) {
            System.err.println("SKIP " + dialect.title() + " is not installed: scripts/setup installs it on Debian");
        }
        assumeTrue(installed, dialect.title() + " is not installed");
    }

    /** The rows that the site of a database began with. */
    static long rowsum(Dialect dialect) throws Exception {
        on(dialect);
        return ROWSUMS.get(dialect);
    }

    static synchronized void close() throws Exception {
        for (Auction site : SITES.values()) {
            site.close();
        }
        SITES.clear();
    }
}
