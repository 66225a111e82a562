package dev.loadline.agent.programs;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.loadline.agent.testing.Program;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** The JDK's HTTP server on a free port: handlers behind a filter, one that leaves its answer to a thread of a pool, and one that fails. */
public final class JdkWeb extends Program {
    private static final char[] PASSWORD = "changeit".toCharArray();

    private HttpContext hello;
    private final ExecutorService others = Executors.newSingleThreadExecutor();

    public static void main(String[] arguments) throws Exception {
        new JdkWeb().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        InetSocketAddress free = new InetSocketAddress("127.0.0.1", 0);
        switch (command) {
            case "start":
                HttpServer server = HttpServer.create(free, 0);
                server.setExecutor(Executors.newFixedThreadPool(2));
                return serve(server);
            case "dispatcher":
                return serve(HttpServer.create(free, 0));
            case "tls":
                HttpsServer secure = HttpsServer.create(free, 0);
                secure.setHttpsConfigurator(new HttpsConfigurator(keys()));
                secure.setExecutor(Executors.newFixedThreadPool(2));
                return serve(secure);
            case "filters":
                return hello.getFilters().stream().map(filter -> filter.getClass().getName()).collect(Collectors.joining());
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private String serve(HttpServer server) {
        hello = server.createContext("/hello", exchange -> answer(exchange, 200, "hello"));
        hello.getFilters().add(new Door());
        hello.getFilters().add(new Door());
        server.createContext("/empty", exchange -> exchange.sendResponseHeaders(204, -1));
        server.createContext("/chunks", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(new byte[100_000]);
            exchange.close();
        });
        server.createContext("/later", exchange -> others.execute(() -> {
            try {
                Thread.sleep(50);
                answer(exchange, 202, "later");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }));
        server.createContext("/fails", exchange -> {
            throw new IllegalStateException("it fails");
        });
        server.start();
        return Integer.toString(server.getAddress().getPort());
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.getResponseBody().close();
    }

    /** With the key of the system property web.keystore. */
    static SSLContext keys() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = new FileInputStream(System.getProperty("web.keystore"))) {
            store.load(in, PASSWORD);
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }

    private static final class Door extends Filter {
        @Override
        public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
            chain.doFilter(exchange);
        }

        @Override
        public String description() {
            return "lets everybody in";
        }
    }
}
