package dev.loadline.auction;

import dev.loadline.auction.data.DataGenerator;
import dev.loadline.auction.data.Database;
import dev.loadline.auction.data.Store;
import dev.loadline.auction.fault.Fault;
import dev.loadline.auction.fault.Faults;
import dev.loadline.auction.files.WorkDir;
import dev.loadline.auction.web.ConnectorExtension;
import dev.loadline.auction.web.Connectors;
import dev.loadline.auction.web.Site;
import dev.loadline.bed.KeyStoreFile;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.catalina.LifecycleException;

/** The running site: work directory, database, web server, started in this order and stopped in the other. */
public final class Auction implements AutoCloseable {
    private final WorkDir work;
    private final Fault fault;
    private Database database;
    private DataSource source;
    private Site site;

    private Auction(WorkDir work, Fault fault) {
        this.work = work;
        this.fault = fault;
    }

    /** Starts a site with the connector extensions on the class path; when it returns, the ports answer. */
    public static Auction start(Config config) throws Exception {
        return start(config, ServiceLoader.load(ConnectorExtension.class).stream().map(ServiceLoader.Provider::get).toList());
    }

    /** Starts a site with these connector extensions. */
    public static Auction start(Config config, List<ConnectorExtension> extensions) throws Exception {
        var auction = new Auction(new WorkDir(config.work()), Faults.create(config.fault()));
        try {
            auction.begin(config, extensions);
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

    private void begin(Config config, List<ConnectorExtension> extensions) throws Exception {
        Path dir = work.path();
        int pool = fault.poolSize(config.pool());
        database = config.jdbc() == null ? Database.open(config.database(), pool, config.work(), fault::reach) : Database.at(config.jdbc(), pool);
        fill(config);
        source = fault.source(database.dataSource(), database::connect, pool);
        var keyStore = new Connectors.KeyStore(KeyStoreFile.create(dir, config.key()), KeyStoreFile.PASSWORD,
            KeyStoreFile.ALIAS, config.key() == KeyStoreFile.Key.EC);
        var connectors = new Connectors(config.port(), config.httpPort(), config.threads(), config.virtualThreads(),
            config.http2(), config.tls().protocols, keyStore,
            Stream.concat(extensions.stream(), fault.connector().stream()).toList());
        site = new Site(dir, connectors, Store.on(source), config.seed(), fault);
        site.start();
        fault.siteReady();
    }

    private void fill(Config config) throws SQLException, IOException {
        if (config.jdbc() != null) {
            boolean there = database.hasTables();
            if (there && config.data() == Config.Data.CREATE) {
                throw new IOException("--jdbc: that database has tables of the site already: --data reuse takes them, "
                    + "--data replace drops them first");
            }
            if (!there && config.data() == Config.Data.REUSE) {
                throw new IOException("--jdbc: that database has no tables of the site: leave --data reuse away");
            }
            if (config.data() == Config.Data.REUSE) {
                return;
            }
            if (there) {
                database.dropTables();
            }
        }
        database.createTables();
        new DataGenerator(config.seed(), config.items(), config.oldItems(), config.users())
            .fill(database.dataSource(), database.dialect());
        database.createIndexes(fault::wants);
    }

    /** The port of HTTPS. */
    public int port() {
        return site.httpsPort();
    }

    /** The port of plain HTTP, or -1. */
    public int httpPort() {
        return site.httpPort();
    }

    /** Says that {@link #close} will be called when the JVM ends, so that nobody else need stop the parts before it. */
    void closedByCaller() {
        database.closedByCaller();
    }

    /** The database, its server and the fault if there is one, for the line that says the site is ready. */
    String describe() {
        return database.dialect().title() + ", " + Site.serverInfo() + (fault.name().isEmpty() ? "" : ", fault " + fault.name());
    }

    Path workPath() {
        return work.path();
    }

    /** Where the pages take their connections. */
    DataSource source() {
        return source;
    }

    Database database() {
        return database;
    }

    /** Answers what it has begun, for up to two seconds, then stops. A second call does nothing. */
    @Override
    public synchronized void close() throws IOException, LifecycleException {
        // Whoever waits inside the fault must be let go first, or the site would wait for them.
        fault.close();
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
            fault.afterDatabase();
            work.close();
        }
    }
}
