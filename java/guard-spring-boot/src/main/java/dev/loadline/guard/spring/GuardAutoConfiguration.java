package dev.loadline.guard.spring;

import dev.loadline.guard.micrometer.GuardMetrics;
import dev.loadline.guard.tomcat.GuardedHttp11Protocol;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Guards the Tomcat of a web application, unless {@code loadline.guard.enabled=false}. */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnClass(name = "org.apache.coyote.http11.Http11NioProtocol")
@ConditionalOnProperty(prefix = GuardOptions.PREFIX, name = "enabled", matchIfMissing = true)
public class GuardAutoConfiguration {
    /** Static: it must be there before the web server's factory is made. */
    @Bean
    static GuardedTomcats loadlineGuardedTomcats(Environment environment) {
        return new GuardedTomcats(environment);
    }

    /** Its figures, wherever there is a registry of meters. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterBinder.class)
    static class Metrics {
        @Bean
        MeterBinder loadlineGuardMetrics(GuardedTomcats tomcats) {
            return new GuardMetrics(() -> tomcats.protocol().map(GuardedHttp11Protocol::guard).orElse(null), "server");
        }
    }

    /** Its actuator endpoint. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static class Actuator {
        @Bean
        @ConditionalOnAvailableEndpoint(endpoint = GuardEndpoint.class)
        GuardEndpoint loadlineGuardEndpoint(GuardedTomcats tomcats) {
            return new GuardEndpoint(tomcats);
        }
    }
}
