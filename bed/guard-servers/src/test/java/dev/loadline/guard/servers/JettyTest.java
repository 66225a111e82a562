package dev.loadline.guard.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.BusyForTest;
import dev.loadline.guard.Guard;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.RequestView;
import dev.loadline.guard.jetty.ConnectionGuard;
import dev.loadline.guard.jetty.GuardHandler;
import dev.loadline.guard.servlet.GuardFilter;
import jakarta.servlet.DispatcherType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.EnumSet;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.ProxyConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.junit.jupiter.api.Test;

/** Jetty 12, in the environment of Jakarta EE 10. */
class JettyTest {
    private static final class JettyServer implements ShopServer {
        private final GuardFilter filter = new GuardFilter();
        private final Server server;
        private final ServerConnector connector;

        /** @param threads of all kinds; a few of them accept and select */
        JettyServer(int threads, String... options) throws Exception {
            server = new Server(new QueuedThreadPool(threads));
            var configuration = new HttpConfiguration();
            connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(configuration), new HTTP2CServerConnectionFactory(configuration));
            connector.setHost("127.0.0.1");
            server.addConnector(connector);
            var context = new ServletContextHandler("/", ServletContextHandler.SESSIONS);
            var holder = new FilterHolder(filter);
            holder.setName("guard");
            holder.setAsyncSupported(true);
            for (String option : options) {
                holder.setInitParameter(option.split("=", 2)[0], option.split("=", 2)[1]);
            }
            context.addFilter(holder, "/*", EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
            var shop = new ServletHolder(new Shop());
            shop.setAsyncSupported(true);
            context.addServlet(shop, "/");
            server.setHandler(context);
            server.start();
        }

        @Override
        public int port() {
            return connector.getLocalPort();
        }

        @Override
        public Guard guard() {
            return filter.guard();
        }

        @Override
        public void close() throws Exception {
            server.stop();
        }
    }

    /** Without servlets: over TLS with a guard of connections, or plain, with one of requests. */
    private static final class CoreServer implements ShopServer {
        private final Server server = new Server();
        private final ServerConnector connector;
        private final Supplier<Guard> guard;
        private ConnectionGuard ofConnections;

        CoreServer(int port, String options, boolean tls) throws Exception {
            this(port, options, tls, false);
        }

        /** @param proxied whether a proxy is to say whose a connection is */
        CoreServer(int port, String options, boolean tls, boolean proxied) throws Exception {
            server.setHandler(new CoreShop());
            var configuration = new HttpConfiguration();
            var http = new HttpConnectionFactory(configuration);
            if (tls) {
                configuration.addCustomizer(new SecureRequestCustomizer(false)); // clients name another host than the certificate
                var keys = new SslContextFactory.Server();
                keys.setKeyStorePath(Tls.keyStore().toString());
                keys.setKeyStorePassword(Tls.PASSWORD);
                var alpn = new ALPNServerConnectionFactory();
                alpn.setDefaultProtocol(http.getProtocol());
                var ssl = new SslConnectionFactory(keys, alpn.getProtocol());
                connector = new ServerConnector(server, 1, 1, ssl, alpn, new HTTP2ServerConnectionFactory(configuration), http);
                if (proxied) {
                    connector.addFirstConnectionFactory(new ProxyConnectionFactory(ssl.getProtocol()));
                }
                ofConnections = ConnectionGuard.install(connector, options);
                guard = ofConnections::guard;
            } else {
                connector = new ServerConnector(server, 1, 1, http, new HTTP2CServerConnectionFactory(configuration));
                var handler = new GuardHandler(options);
                server.insertHandler(handler);
                guard = handler::guard;
            }
            connector.setHost("127.0.0.1");
            connector.setPort(port);
            server.addConnector(connector);
            server.start();
        }

        @Override
        public int port() {
            return connector.getLocalPort();
        }

        @Override
        public Guard guard() {
            return guard.get();
        }

        @Override
        public Guard streamGuard() {
            return ofConnections.streamGuard();
        }

        @Override
        public void close() throws Exception {
            server.stop();
        }
    }

    /** The shop, as Jetty's own handlers have it. */
    private static final class CoreShop extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            switch (Request.getPathInContext(request)) {
                case "/burn" -> {
                    if (!request.getHeaders().contains(HttpHeader.COOKIE)) {
                        response.getHeaders().add(HttpHeader.SET_COOKIE, "JSESSIONID=" + UUID.randomUUID() + "; Path=/");
                    }
                    Shop.burn(Long.parseLong(Request.extractQueryParameters(request).getValue("ms")));
                }
                case "/later" -> {
                    response.getHeaders().add(HttpHeader.SET_COOKIE, "JSESSIONID=" + UUID.randomUUID() + "; Path=/");
                    new Thread(() -> {
                        LockSupport.parkNanos(20_000_000);
                        Content.Sink.write(response, true, "hello later", callback);
                    }).start();
                    return true;
                }
                default -> { }
            }
            Content.Sink.write(response, true, "hello " + request.getHttpURI().getPath(), callback);
            return true;
        }
    }

    @Test
    void new_connections_are_told_apart_before_any_cryptography() throws Exception {
        TlsScenario.lanes((port, options) -> new CoreServer(port, options, true), true);
    }

    @Test
    void the_address_that_a_proxy_names_is_the_clients() throws Exception {
        TlsScenario.behindProxy((port, options) -> new CoreServer(port, options, true, true));
    }

    @Test
    void a_crowd_of_new_connections_breaks_no_session_that_is_there() throws Exception {
        TlsScenario.crowd((port, options) -> new CoreServer(port, options, true));
    }

    @Test
    void of_streams_of_one_connection_those_of_new_sessions_are_refused() throws Exception {
        TlsScenario.streams((port, options) -> new CoreServer(port, options, true));
    }

    /** The guard of connections does not see streams one by one: a connection whose requests must be seen speaks HTTP/1.1. */
    @Test
    void a_connection_for_a_probe_does_not_speak_http_2() throws Exception {
        try (var server = new CoreServer(0, "cpus=1; fullCost=80000s", true)) {
            BusyForTest.makeBusy(server.guard());
            assertEquals("h2", TlsScenario.negotiated(server, "127.0.0.5"));
            assertEquals("http/1.1", TlsScenario.negotiated(server, "127.0.0.6"));
            assertEquals(1, server.guard().figures().getProbes());
        }
    }

    @Test
    void a_connector_without_tls_is_not_guarded_and_a_wrong_option_is_named() {
        var connector = new ServerConnector(new Server());
        assertTrue(assertThrows(IllegalArgumentException.class, () -> ConnectionGuard.install(connector, "")).getMessage().contains("GuardHandler"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> ConnectionGuard.install(connector, "proxyProtocol=required; trustedProxies=::1"))
            .getMessage().contains("ProxyConnectionFactory"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> new GuardHandler("objective=soon")).getMessage().contains("objective: 'soon'"));
    }

    @Test
    void a_handler_guards_requests_where_there_are_no_servlets() throws Exception {
        try (var server = new CoreServer(0, "", false)) {
            Scenario.completesLater(server);
        }
        try (var server = new CoreServer(0, "", false)) {
            new Scenario(server).run(true);
        }
    }

    @Test
    void under_overload_the_sessions_that_are_there_go_on() throws Exception {
        try (var server = new JettyServer(14)) {
            new Scenario(server).run(true);
        }
    }

    @Test
    void who_is_answered_later_is_seen_to_the_end() throws Exception {
        try (var server = new JettyServer(50)) {
            Scenario.completesLater(server);
        }
    }

    /** Knows its customers by a header. */
    public static final class ByCustomer implements RequestClassifier {
        @Override
        public String session(RequestView request, String claimed) {
            return request.header("User-Agent");
        }
    }

    @Test
    void a_class_of_the_application_says_what_a_session_is() throws Exception {
        try (var server = new JettyServer(50, "classifier=" + ByCustomer.class.getName())) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/")).header("User-Agent", "ann").build();
            HttpClient client = HttpClient.newHttpClient();
            for (int i = 0; i < 3; i++) {
                assertEquals(200, client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode());
            }
            Scenario.until("all ended", () -> server.guard().figures().getEventsUnderWay() == 0);
            assertEquals(1, server.guard().figures().getNewSessions());
            assertEquals(3, server.guard().figures().getRequests());
        }
        Throwable wrong = assertThrows(Exception.class, () -> new JettyServer(50, "classifier=java.lang.String"));
        assertTrue(wrong.toString().contains("guard: classifier: 'java.lang.String' cannot be used"), wrong.toString());
    }

    @Test
    void an_application_with_a_wrong_init_param_does_not_start() {
        Throwable wrong = assertThrows(Exception.class, () -> new JettyServer(50, "trustedProxies=balancer.example"));
        assertTrue(wrong.toString().contains("guard: trustedProxies: 'balancer.example' is no address"), wrong.toString());
    }
}
