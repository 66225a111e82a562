package dev.loadline.guard.servers;

import dev.loadline.guard.Guard;
import dev.loadline.guard.servlet.GuardFilter;
import dev.loadline.guard.tomcat.GuardValve;
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

final class TomcatServer implements ShopServer {
    private final Tomcat tomcat = new Tomcat();
    private final Path folder;
    private final Connector connector = new Connector();
    private final Supplier<Guard> guard;

    /** @param attributes of the connector, as name=value */
    TomcatServer(boolean valve, String... attributes) throws Exception {
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
