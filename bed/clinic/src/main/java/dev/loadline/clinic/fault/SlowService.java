package dev.loadline.clinic.fault;

import com.sun.net.httpserver.HttpServer;
import dev.loadline.bed.Delay;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** A partner's service, here in the same process, that pages ask by a RestClient and that takes 12 ms. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "slow-service")
class SlowService extends PageFault implements DisposableBean {
    private static final long ANSWERS_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer service;
    private final RestClient client;

    SlowService() throws IOException {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.setExecutor(threads);
        service.createContext("/", exchange -> {
            Delay.nanos(ANSWERS_NANOS);
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        service.start();
        client = RestClient.builder().requestFactory(new SimpleClientHttpRequestFactory())
            .baseUrl("http://127.0.0.1:" + service.getAddress().getPort()).build();
    }

    @Override
    protected void before(HttpServletRequest request) {
        client.get().uri("/slots").retrieve().toBodilessEntity();
    }

    @Override
    public void destroy() {
        service.stop(0);
        threads.shutdownNow();
    }
}
