package dev.loadline.guard.spring;

import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.micrometer.GuardMetrics;
import io.micrometer.core.instrument.binder.MeterBinder;
import jakarta.servlet.DispatcherType;
import java.util.EnumSet;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Guards a web application, unless {@code loadline.guard.enabled=false}: the connections of its Tomcat or Jetty where that has TLS,
 * else its requests, on whatever server, be they of servlets or of WebFlux.
 */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnProperty(prefix = GuardOptions.PREFIX, name = "enabled", matchIfMissing = true)
public class GuardAutoConfiguration {
    /** Static, as what asks for it. */
    @Bean
    static GuardInUse loadlineGuardInUse() {
        return new GuardInUse();
    }

    /** Its connections. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.apache.coyote.http11.Http11NioProtocol")
    static class Connections {
        /** Static: it must be there before the web server's factory is made. */
        @Bean
        static GuardedTomcats loadlineGuardedTomcats(Environment environment, GuardInUse inUse, ObjectProvider<RequestClassifier> classifier) {
            return new GuardedTomcats(environment, inUse, classifier);
        }
    }

    /** The same of Jetty, from 12 on. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.eclipse.jetty.server.Handler$Wrapper")
    static class JettyConnections {
        /** Static, as that of Tomcat's. */
        @Bean
        static GuardedJettys loadlineGuardedJettys(Environment environment, GuardInUse inUse, ObjectProvider<RequestClassifier> classifier) {
            return new GuardedJettys(environment, inUse, classifier);
        }
    }

    /** Its requests. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class Requests {
        @Bean
        FilterRegistrationBean<RequestsFilter> loadlineGuardRequests(Environment environment, GuardInUse inUse,
                                                                      ObjectProvider<RequestClassifier> classifier) {
            GuardOptions.Requests when = GuardOptions.requests(environment);
            var filter = new RequestsFilter(GuardOptions.table(environment), when == GuardOptions.Requests.ON, inUse);
            classifier.ifAvailable(filter::classifier);
            var registration = new FilterRegistrationBean<>(filter);
            registration.setName("requests");
            registration.setEnabled(when != GuardOptions.Requests.OFF);
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            registration.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
            return registration;
        }
    }

    /** The requests of a reactive one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class ReactiveRequests {
        @Bean
        RequestsWebFilter loadlineGuardReactiveRequests(Environment environment, GuardInUse inUse, ObjectProvider<RequestClassifier> classifier) {
            return new RequestsWebFilter(GuardSettings.ofTable(GuardOptions.table(environment)), classifier.getIfAvailable(),
                GuardOptions.requests(environment), inUse);
        }
    }

    /** Its figures, wherever there is a registry of meters. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterBinder.class)
    static class Metrics {
        @Bean
        MeterBinder loadlineGuardMetrics(GuardInUse inUse) {
            return new GuardMetrics(() -> inUse.guard().orElse(null), "server");
        }
    }

    /** Its actuator endpoint. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static class Actuator {
        @Bean
        @ConditionalOnAvailableEndpoint(endpoint = GuardEndpoint.class)
        GuardEndpoint loadlineGuardEndpoint(GuardInUse inUse) {
            return new GuardEndpoint(inUse);
        }
    }
}
