package dev.loadline.guard.spring;

import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.tomcat.GuardedHttp11Protocol;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.http11.Http11NioProtocol;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.env.Environment;

/**
 * Tells Spring Boot's factory of Tomcats to make guarded connectors. A protocol that the application chose stays. Whether
 * a connector speaks TLS is known when it starts: where it does not, requests are guarded ({@link RequestsFilter}).
 */
final class GuardedTomcats implements BeanPostProcessor {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final Pattern FACTORY = Pattern.compile("Tomcat(Servlet|Reactive)?WebServerFactory");

    private final Environment environment;
    private final ObjectProvider<RequestClassifier> classifier;
    private volatile GuardedHttp11Protocol protocol;

    /** @param classifier asked for when a connector is made: a post-processor of beans is older than they are */
    GuardedTomcats(Environment environment, GuardInUse inUse, ObjectProvider<RequestClassifier> classifier) {
        this.environment = environment;
        this.classifier = classifier;
        inUse.ofConnections(() -> protocol().map(GuardedHttp11Protocol::guard).orElse(null));
    }

    /** Of the connector that was made last; a server that was stopped and started again has another one. */
    Optional<GuardedHttp11Protocol> protocol() {
        return Optional.ofNullable(protocol);
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        if (ServerFactory.is(FACTORY, bean)) {
            guard(bean, GuardOptions.of(environment));
        }
        return bean;
    }

    private void guard(Object factory, String options) {
        try {
            factory.getClass().getMethod("setProtocol", String.class).invoke(factory, GuardedHttp11Protocol.class.getName());
            ServerFactory.customize(factory, "addConnectorCustomizers", made -> made((Connector) made, options));
        } catch (ReflectiveOperationException e) {
            // Not an application that does not start: one that is not guarded, and says so.
            LOG.log(System.Logger.Level.ERROR, "loadline-guard: this version of Spring Boot is not known, nothing is guarded", e);
        }
    }

    private void made(Connector connector, String options) {
        if (connector.getProtocolHandler() instanceof GuardedHttp11Protocol guarded) {
            guarded.setGuard(options);
            classifier.ifAvailable(guarded::setGuardClassifier);
            protocol = guarded;
        } else {
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: the application chose the protocol "
                + connector.getProtocolHandlerClassName() + " for its connector, which is not guarded; "
                + Http11NioProtocol.class.getName() + " would be");
        }
    }
}
