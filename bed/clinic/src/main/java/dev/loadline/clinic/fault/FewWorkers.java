package dev.loadline.clinic.fault;

import dev.loadline.bed.Delay;
import jakarta.servlet.http.HttpServletRequest;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/** Two threads for pages that wait for a partner's service first. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "few-workers")
class FewWorkers extends PageFault implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {
    private static final int WORKERS = 2;
    private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        factory.addConnectorCustomizers(connector -> {
            connector.setProperty("maxThreads", Integer.toString(WORKERS));
            connector.setProperty("minSpareThreads", Integer.toString(WORKERS));
        });
    }

    @Override
    protected void before(HttpServletRequest request) {
        Delay.nanos(WAIT_NANOS);
    }
}
