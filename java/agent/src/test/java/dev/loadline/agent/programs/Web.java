package dev.loadline.agent.programs;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.loadline.Loadline;
import dev.loadline.Span;
import dev.loadline.agent.testing.Program;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.locks.LockSupport;
import org.apache.catalina.Container;
import org.apache.catalina.Context;
import org.apache.catalina.Valve;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.OpenSSLLifecycleListener;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.Adapter;
import org.apache.coyote.ProtocolHandler;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.AbstractEndpoint;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.apache.tomcat.util.net.SocketEvent;

/**
 * Tomcat with HTTPS on a free port, HTTP/1.1 and 2, and a few servlets; one uses H2 through HikariCP.
 * System properties: web.protocol, web.tls, web.keystore, web.virtual, web.adapter (one before Tomcat's),
 * web.engines (the class of Tomcat's that makes them).
 */
public final class Web extends Program {
    private static final String PASSWORD = "changeit";

    private final Tomcat tomcat = new Tomcat();
    private HikariDataSource pool;

    public static void main(String[] arguments) throws Exception {
        new Web().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        switch (command) {
            case "start":
                return start();
            case "stop":
                tomcat.stop();
                return "";
            case "work":
                return work();
            case "parts":
                return parts();
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private String start() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setPoolName("shop");
        config.setJdbcUrl("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(2);
        pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE item(id INT PRIMARY KEY, name VARCHAR)");
            statement.execute("INSERT INTO item VALUES (1, 'a'), (2, 'b')");
        }
        Connector connector = new Connector(
                "org.apache.coyote.http11.Http11" + System.getProperty("web.protocol", "Nio") + "Protocol");
        connector.setPort(0);
        connector.setScheme("https");
        connector.setSecure(true);
        connector.setProperty("SSLEnabled", "true");
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("useVirtualThreads", System.getProperty("web.virtual", "false"));
        SSLHostConfig ssl = new SSLHostConfig();
        ssl.setProtocols(System.getProperty("web.tls", "TLSv1.3"));
        SSLHostConfigCertificate certificate =
                new SSLHostConfigCertificate(ssl, SSLHostConfigCertificate.Type.UNDEFINED);
        certificate.setCertificateKeystoreFile(System.getProperty("web.keystore"));
        certificate.setCertificateKeystorePassword(PASSWORD);
        ssl.addCertificate(certificate);
        connector.addSslHostConfig(ssl);
        connector.addUpgradeProtocol(new Http2Protocol());
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setConnector(connector);
        Connector plain = new Connector(); // as distributions have one, whose requests pass the same pipeline
        plain.setPort(0);
        plain.setProperty("address", "127.0.0.1");
        tomcat.getService().addConnector(plain);
        String engines = System.getProperty("web.engines");
        if (engines != null) {
            connector.setProperty("sslImplementationName", engines);
            tomcat.getServer().addLifecycleListener(new OpenSSLLifecycleListener());
        }
        Context context = tomcat.addContext("", null);
        tomcat.getEngine().addContainerListener(event -> {
            if (event.getType().equals(Container.REMOVE_VALVE_EVENT)) {
                LockSupport.parkNanos(20_000_000); // what is taken out of the pipeline is so while requests pass it, not by luck only
            }
        });
        add(context, "hello", new Hello());
        add(context, "later", new Later());
        add(context, "pooled", new Pooled());
        add(context, "again", new Again());
        add(context, "items", new Items(pool));
        tomcat.start();
        if (Boolean.getBoolean("web.adapter")) {
            ProtocolHandler handler = connector.getProtocolHandler();
            handler.setAdapter(new PutBefore(handler.getAdapter()));
        }
        return Integer.toString(connector.getLocalPort());
    }

    /** Statements and spans, so many that HotSpot compiles them for good. */
    private String work() throws SQLException {
        for (int i = 0; i < 40_000; i++) {
            query(1 + i % 2);
        }
        return "";
    }

    private void query(int item) throws SQLException {
        try (Span span = Loadline.span("work");
                Connection connection = pool.getConnection();
                PreparedStatement query = connection.prepareStatement("SELECT name FROM item WHERE id = ?")) {
            query.setInt(1, item);
            try (ResultSet found = query.executeQuery()) {
                found.next();
            }
        }
    }

    /** The classes of what a recording may put something before. */
    private String parts() throws ReflectiveOperationException {
        Object endpoint = field(tomcat.getConnector().getProtocolHandler(), "endpoint");
        SSLHostConfig host = ((AbstractEndpoint<?, ?>) endpoint).findSslHostConfigs()[0];
        Object hikari = field(pool, "fastPathPool") == null ? field(pool, "pool") : field(pool, "fastPathPool");
        Object[] parts = {
            field(endpoint, "executor"), field(endpoint, "handler"), field(endpoint, "connections"),
            host.getCertificates().iterator().next().getSslContext(),
            field(hikari, "suspendResumeLock"), field(hikari, "metricsTracker")
        };
        StringBuilder text = new StringBuilder();
        for (Object part : parts) {
            text.append(part.getClass().getName()).append(' ');
        }
        for (Valve valve : tomcat.getEngine().getPipeline().getValves()) {
            text.append(valve.getClass().getName()).append(' ');
        }
        return text.append(tomcat.getConnector().getProperty("currentThreadCount")).toString();
    }

    private static Object field(Object object, String name) throws ReflectiveOperationException {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field.get(object);
                }
            }
        }
        throw new NoSuchFieldException(name);
    }

    private static void add(Context context, String name, HttpServlet servlet) {
        Tomcat.addServlet(context, name, servlet).setAsyncSupported(true);
        context.addServletMappingDecoded("/" + name, name);
    }

    /** An adapter before Tomcat's, as those have who shed load. */
    private static final class PutBefore implements Adapter {
        private final Adapter adapter;

        PutBefore(Adapter adapter) {
            this.adapter = adapter;
        }

        @Override
        public void service(Request request, Response response) throws Exception {
            adapter.service(request, response);
        }

        @Override
        public boolean prepare(Request request, Response response) throws Exception {
            return adapter.prepare(request, response);
        }

        @Override
        public boolean asyncDispatch(Request request, Response response, SocketEvent status) throws Exception {
            return adapter.asyncDispatch(request, response, status);
        }

        @Override
        public void log(Request request, Response response, long time) {
            adapter.log(request, response, time);
        }

        @Override
        public void checkRecycled(Request request, Response response) {
            adapter.checkRecycled(request, response);
        }

        @Override
        public String getDomain() {
            return adapter.getDomain();
        }
    }

    /** Has itself dispatched to once more by another thread, and answers then. */
    private static final class Again extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                response.setContentLength(5);
                response.getOutputStream().print("again");
            } else {
                new Thread(request.startAsync()::dispatch, "dispatches").start();
            }
        }
    }

    private static final class Items extends HttpServlet {
        private final HikariDataSource pool;

        Items(HikariDataSource pool) {
            this.pool = pool;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            try (Connection connection = pool.getConnection()) {
                try (PreparedStatement query =
                        connection.prepareStatement("SELECT name FROM item  WHERE id IN (?, ?) -- both")) {
                    query.setInt(1, 1);
                    query.setInt(2, 2);
                    try (ResultSet names = query.executeQuery()) {
                        names.next();
                    }
                }
                try (Statement update = connection.createStatement()) {
                    update.executeUpdate("UPDATE item SET name = 'x' WHERE id = 1");
                }
            } catch (SQLException e) {
                throw new IOException(e);
            }
            response.setContentLength(5);
            response.getOutputStream().print("items");
        }
    }
}
