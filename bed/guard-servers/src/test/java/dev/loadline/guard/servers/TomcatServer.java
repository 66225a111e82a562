package dev.loadline.guard.servers;

import dev.loadline.guard.Guard;
import dev.loadline.guard.servlet.GuardFilter;
import dev.loadline.guard.tomcat.GuardValve;
import dev.loadline.guard.tomcat.GuardedHttp11Protocol;
import jakarta.servlet.DispatcherType;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.function.Supplier;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

final class TomcatServer implements ShopServer {
    private final Tomcat tomcat = new Tomcat();
    private final Path folder;
    private final Connector connector;
    private final Supplier<Guard> guard;

    /** @param attributes of the connector, as name=value */
    TomcatServer(boolean valve, String... attributes) throws Exception {
        this(new Connector(), valve, attributes);
    }

    /** Over TLS, with a guard of connections and one of requests. */
    static TomcatServer withBoth() throws Exception {
        var connector = new Connector(GuardedHttp11Protocol.class.getName());
        connector.setSecure(true);
        connector.setScheme("https");
        var host = new SSLHostConfig();
        var certificate = new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
        certificate.setCertificateKeystoreFile(Tls.keyStore().toString());
        certificate.setCertificateKeystorePassword(Tls.PASSWORD);
        host.addCertificate(certificate);
        connector.addSslHostConfig(host);
        return new TomcatServer(connector, true, "SSLEnabled=true");
    }

    private TomcatServer(Connector connector, boolean valve, String... attributes) throws Exception {
        this.connector = connector;
        folder = Files.createTempDirectory("guarded");
        tomcat.setBaseDir(folder.toString());
        connector.setPort(0);
        connector.setThrowOnFailure(true);
        connector.setProperty("address", "127.0.0.1");
        for (String attribute : attributes) {
            connector.setProperty(attribute.split("=")[0], attribute.split("=")[1]);
        }
        connector.addUpgradeProtocol(new Http2Protocol());
        tomcat.getService().addConnector(connector);
        Context context = tomcat.addContext("", folder.toString());
        if (context instanceof StandardContext standard) {
            // Tomcat would look for leaks of a reloaded application, by reflection that JDK 17 forbids.
            standard.setClearReferencesThreadLocals(false);
            standard.setClearReferencesRmiTargets(false);
        }
        Wrapper shop = Tomcat.addServlet(context, "shop", new Shop());
        shop.setAsyncSupported(true);
        context.addServletMappingDecoded("/", "shop");
        guard = valve ? valve() : filter(context);
        tomcat.start();
    }

    private Supplier<Guard> valve() {
        var valve = new GuardValve();
        tomcat.getEngine().getPipeline().addValve(valve);
        return valve::guard;
    }

    private static Supplier<Guard> filter(Context context) {
        var filter = new GuardFilter();
        var definition = new FilterDef();
        definition.setFilterName("guard");
        definition.setFilter(filter);
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        var map = new FilterMap();
        map.setFilterName("guard");
        map.addURLPattern("/*");
        map.setDispatcher(DispatcherType.REQUEST.name());
        map.setDispatcher(DispatcherType.ASYNC.name());
        context.addFilterMapBefore(map);
        return filter::guard;
    }

    @Override
    public int port() {
        return connector.getLocalPort();
    }

    @Override
    public Guard guard() {
        return guard.get();
    }

    /** That of its connections, if it has both. */
    Guard ofConnections() {
        return ((GuardedHttp11Protocol) connector.getProtocolHandler()).guard();
    }

    @Override
    public void close() throws Exception {
        try {
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            throw new IllegalStateException(e);
        } finally {
            try (var all = Files.walk(folder)) {
                all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
            }
        }
    }
}
