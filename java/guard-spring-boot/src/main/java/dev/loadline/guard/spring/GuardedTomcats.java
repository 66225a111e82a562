package dev.loadline.guard.spring;

import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.tomcat.GuardedHttp11Protocol;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Optional;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.http11.Http11NioProtocol;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.env.Environment;

/**
 * Tells Spring Boot's factory of Tomcats to make guarded connectors. The factory's class is
 * {@code o.s.boot.web.embedded.tomcat.TomcatServletWebServerFactory} in Boot 3, and in another package since 4, with the
 * same methods: they are called by name, so that one jar serves both. A protocol that the application chose stays. Whether
 * a connector speaks TLS is known when it starts: where it does not, requests are guarded ({@link RequestsFilter}).
 */
final class GuardedTomcats implements BeanPostProcessor {
    private static final System.Logger LOG = System.getLogger("loadline-guard");

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
        if (isTomcats(bean.getClass())) {
            guard(bean, GuardOptions.of(environment));
        }
        return bean;
    }

    private static boolean isTomcats(Class<?> type) {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            if (c.getName().startsWith("org.springframework.boot.") && c.getSimpleName().matches("Tomcat(Servlet|Reactive)?WebServerFactory")) {
                return true;
            }
        }
        return false;
    }

    private void guard(Object factory, String options) {
        try {
            factory.getClass().getMethod("setProtocol", String.class).invoke(factory, GuardedHttp11Protocol.class.getName());
            Method add = Arrays.stream(factory.getClass().getMethods()).filter(m -> m.getName().equals("addConnectorCustomizers"))
                .findFirst().orElseThrow(() -> new NoSuchMethodException("addConnectorCustomizers"));
            Class<?> type = add.getParameterTypes()[0].getComponentType();
            InvocationHandler customize = (proxy, method, arguments) -> {
                if (method.getDeclaringClass() == Object.class) {
                    return switch (method.getName()) {
                        case "equals" -> proxy == arguments[0];
                        case "hashCode" -> System.identityHashCode(proxy);
                        default -> "loadline-guard";
                    };
                }
                made((Connector) arguments[0], options);
                return null;
            };
            Object customizers = Array.newInstance(type, 1);
            Array.set(customizers, 0, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, customize));
            add.invoke(factory, customizers);
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
