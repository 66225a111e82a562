package dev.loadline.guard.spring;

import dev.loadline.guard.Guard;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.jetty.ConnectionGuard;
import java.util.regex.Pattern;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.env.Environment;

/**
 * Has the connectors of Spring Boot's Jetty guarded that speak TLS: when its server is made, they are there. Where none does, requests are
 * ({@link RequestsFilter}).
 */
final class GuardedJettys implements BeanPostProcessor {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final Pattern FACTORY = Pattern.compile("Jetty(Servlet|Reactive)?WebServerFactory");

    private final Environment environment;
    private final ObjectProvider<RequestClassifier> classifier;
    private volatile ConnectionGuard installed;

    /** @param classifier asked for when a server is made: a post-processor of beans is older than they are */
    GuardedJettys(Environment environment, GuardInUse inUse, ObjectProvider<RequestClassifier> classifier) {
        this.environment = environment;
        this.classifier = classifier;
        inUse.ofConnections(this::guard);
    }

    /** Of the connector that was made last; null while there is none that runs. */
    private Guard guard() {
        ConnectionGuard now = installed;
        return now == null ? null : now.guard();
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        if (ServerFactory.is(FACTORY, bean)) {
            String options = GuardOptions.of(environment);
            try {
                ServerFactory.customize(bean, "addServerCustomizers", made -> guard((Server) made, options));
            } catch (ReflectiveOperationException e) {
                // Not an application that does not start: one whose connections are not guarded, and says so.
                LOG.log(System.Logger.Level.ERROR, "loadline-guard: this version of Spring Boot is not known, Jetty's connections are not guarded", e);
            }
        }
        return bean;
    }

    private void guard(Server server, String options) {
        for (Connector connector : server.getConnectors()) {
            if (connector instanceof ServerConnector some && some.getConnectionFactory(SslConnectionFactory.class) != null) {
                ConnectionGuard made = ConnectionGuard.install(some, options);
                classifier.ifAvailable(made::classifier);
                installed = made;
            }
        }
    }
}
