package dev.loadline.auction.fault;

import com.sun.net.httpserver.HttpServer;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Every page first asks another service by HTTP, which answers after 12 ms: it runs beside the site, in the same process. */
final class SlowService extends Fault {
    private static final long ANSWERS_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "other-service");
        thread.setDaemon(true);
        return thread;
    });
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final HttpServer service;

    SlowService(String name) {
        super(name);
        try {
            service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        service.setExecutor(threads);
        service.createContext("/", exchange -> {
            LockSupport.parkNanos(ANSWERS_NANOS);
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        service.start();
    }

    @Override
    public Optional<Filter> aroundPages() {
        HttpRequest question = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + service.getAddress().getPort() + "/stock")).build();
        return Optional.of((request, response, chain) -> {
            try {
                client.send(question, BodyHandlers.discarding());
            } catch (InterruptedException e) {
                throw new ServletException(e);
            }
            chain.doFilter(request, response);
        });
    }

    @Override
    public void close() {
        service.stop(0);
        threads.shutdownNow();
    }
}
