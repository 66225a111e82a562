package dev.loadline.auction.fault;

import dev.loadline.auction.web.ConnectorExtension;
import jakarta.servlet.Filter;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

/** The places where a fault can be planted. By itself it is none: everything is as it should be. */
public class Fault implements AutoCloseable {
    /** Opens a database connection outside the pool. */
    public interface Connect {
        /** A new connection; the caller closes it. */
        Connection open() throws SQLException;
    }

    private final String name;

    Fault(String name) {
        this.name = name;
    }

    /** Its name; empty for none. */
    public final String name() {
        return name;
    }

    /** The address under which the site reaches the database, instead of {@code url}. */
    public String reach(String url) throws IOException {
        return url;
    }

    /** How many connections the pool has, where {@code asked} are asked for. */
    public int poolSize(int asked) {
        return asked;
    }

    /** Whether this statement of indexes.sql is carried out. */
    public boolean wants(String index) {
        return true;
    }

    /** Where pages take their connections, instead of {@code sound}. */
    public DataSource source(DataSource sound, Connect connect, int poolSize) throws SQLException {
        return sound;
    }

    /** Around every dynamic page. */
    public Optional<Filter> aroundPages() {
        return Optional.empty();
    }

    /** Around every dynamic page; {@code work} is a directory for files of its own. */
    public Optional<Filter> aroundPages(Path work) {
        return aroundPages();
    }

    /** What it changes of how the site listens. */
    public Optional<ConnectorExtension> connector() {
        return Optional.empty();
    }

    /** Called when the site answers. */
    public void siteReady() throws IOException {
    }

    /** Called when the database is closed. */
    public void afterDatabase() {
    }

    /** Around every image; {@code work} is a directory for files of its own. */
    public Optional<Filter> aroundImages(Path work) {
        return Optional.empty();
    }

    /** Lets go of whoever waits in it. */
    @Override
    public void close() {
    }
}
