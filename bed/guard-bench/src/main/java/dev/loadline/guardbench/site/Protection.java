package dev.loadline.guardbench.site;

import dev.loadline.auction.web.ConnectorExtension;
import jakarta.servlet.Filter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.catalina.Container;
import org.apache.catalina.Context;
import org.apache.catalina.Lifecycle;
import org.apache.catalina.connector.Connector;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/**
 * Puts one protection in front of the site. {@code -Dprotection=} names it: {@code unguarded} (Tomcat as it
 * comes), {@code guarded} (the guard; {@code -Dprotection.guard} holds its options), {@code tomcat-limits},
 * {@code concurrency-limits}, {@code resilience4j}; each peer's figures are properties of their own. Tomcat's limits
 * and virtual threads can be set for each of them.
 * {@code -Dprotection.counts=FILE} has {@link ReplyCounts} written; {@code -Dprotection.modes=PIPE} lets {@link ModeSwitch}
 * set the guard's mode.
 */
public final class Protection implements ConnectorExtension {
    private static final String GUARDED = "dev.loadline.guard.tomcat.GuardedHttp11Protocol";

    private static final String[] LIMITS = {"maxConnections", "acceptCount", "maxThreads", "minSpareThreads", "useVirtualThreads"};

    private final String name = System.getProperty("protection", "unguarded");

    @Override
    public String protocol() {
        return name.equals("guarded") ? GUARDED : null;
    }

    @Override
    public void extend(Connector connector) {
        String counts = System.getProperty("protection.counts");
        if (counts != null && connector.getSecure()) {
            onceInService(connector, () -> count(connector, Path.of(counts)));
        }
        String modes = System.getProperty("protection.modes");
        if (modes != null && connector.getSecure()) {
            ModeSwitch.listen(Path.of(modes));
        }
        for (String limit : LIMITS) {
            String value = System.getProperty("protection." + limit);
            if (value != null) {
                connector.setProperty(limit, value);
            }
        }
        switch (name) {
            case "unguarded", "tomcat-limits" -> { }
            case "guarded" -> connector.setProperty("guard", System.getProperty("protection.guard", ""));
            case "concurrency-limits" -> inFront(connector, ConcurrencyLimitsFilter.ofProperties());
            case "resilience4j" -> inFront(connector, Resilience4jFilter.ofProperties());
            default -> throw new IllegalArgumentException("-Dprotection=" + name
                + ": it must be unguarded, guarded, tomcat-limits, concurrency-limits or resilience4j");
        }
    }

    /** A connector knows the contexts once it is part of a service; filters must be there before those start. */
    private static void onceInService(Connector connector, Runnable then) {
        connector.addLifecycleListener(event -> {
            if (event.getType().equals(Lifecycle.BEFORE_INIT_EVENT)) {
                then.run();
            }
        });
    }

    private static void inFront(Connector connector, Filter filter) {
        onceInService(connector, () -> {
            for (Container host : connector.getService().getContainer().findChildren()) {
                for (Container context : host.findChildren()) {
                    add((Context) context, filter);
                }
            }
        });
    }

    private static void count(Connector connector, Path file) {
        try {
            connector.getService().getContainer().getPipeline().addValve(new ReplyCounts(file));
        } catch (IOException e) {
            throw new UncheckedIOException("-Dprotection.counts=" + file + ": cannot be written", e);
        }
    }

    private static void add(Context context, Filter filter) {
        var definition = new FilterDef();
        definition.setFilterName("protection");
        definition.setFilter(filter);
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        var map = new FilterMap();
        map.setFilterName("protection");
        map.addURLPattern("/*");
        context.addFilterMapBefore(map);
    }
}
