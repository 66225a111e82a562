package dev.loadline.auction;

import dev.loadline.auction.data.Catalog;
import dev.loadline.auction.data.DataGenerator;
import dev.loadline.auction.data.Database;
import dev.loadline.auction.web.Site;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.catalina.LifecycleException;

/** The running site: work directory, database, web server, started in this order and stopped in the other. */
public final class Auction implements AutoCloseable {
    private final WorkDir work;
    private Database database;
    private Site site;

    private Auction(WorkDir work) {
        this.work = work;
    }

    /** Starts a site; when it returns, the ports answer. */
    public static Auction start(Config config) throws Exception {
        var auction = new Auction(new WorkDir(config.work()));
        try {
            Path dir = auction.work.path();
            auction.database = new Database(config.pool());
            auction.database.createTables();
            new DataGenerator(config.seed(), config.items(), config.users()).fill(auction.database.dataSource());
            var keyStore = new Site.KeyStore(KeyStoreFile.create(dir, config.key()), KeyStoreFile.PASSWORD,
                KeyStoreFile.ALIAS, config.key() == Config.Key.EC);
            auction.site = new Site(dir, config.port(), config.httpPort(), config.threads(), keyStore,
                new Catalog(auction.database.dataSource()), config.seed());
            auction.site.start();
            return auction;
        } catch (Exception e) {
            try {
                auction.close();
            } catch (Exception closing) {
                e.addSuppressed(closing);
            }
            throw e;
        }
    }

    /** The port of HTTPS. */
    public int port() {
        return site.httpsPort();
    }

    /** The port of plain HTTP, or -1. */
    public int httpPort() {
        return site.httpPort();
    }

    Path workPath() {
        return work.path();
    }

    /** Answers what it has begun, for up to two seconds, then stops. A second call does nothing. */
    @Override
    public synchronized void close() throws IOException, LifecycleException {
        try {
            if (site != null) {
                site.stop();
                site = null;
            }
        } finally {
            if (database != null) {
                database.close();
                database = null;
            }
            work.close();
        }
    }
}
