package dev.loadline.guard.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.BusyForTest;
import dev.loadline.guard.Guard;
import dev.loadline.guard.servlet.GuardFilter;
import dev.loadline.guard.undertow.ConnectionGuard;
import dev.loadline.guard.undertow.GuardHandler;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpServerExchange;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import io.undertow.util.Headers;
import jakarta.servlet.DispatcherType;
import java.net.InetSocketAddress;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Undertow, which has eight workers a CPU. */
class UndertowTest {
    private static final class UndertowServer implements ShopServer {
        private final GuardFilter filter = new GuardFilter();
        private final DeploymentManager deployment;
        private final Undertow undertow;

        UndertowServer() throws Exception {
            deployment = Servlets.defaultContainer().addDeployment(Servlets.deployment().setClassLoader(UndertowTest.class.getClassLoader())
                .setContextPath("/").setDeploymentName("shop")
                .addFilter(Servlets.filter("guard", GuardFilter.class, new ImmediateInstanceFactory<>(filter)).setAsyncSupported(true))
                .addFilterUrlMapping("guard", "/*", DispatcherType.REQUEST).addFilterUrlMapping("guard", "/*", DispatcherType.ASYNC)
                .addServlet(Servlets.servlet("shop", Shop.class).addMapping("/").setAsyncSupported(true)));
            deployment.deploy();
            undertow = Undertow.builder().addHttpListener(0, "127.0.0.1").setServerOption(UndertowOptions.ENABLE_HTTP2, true)
                .setHandler(deployment.start()).build();
            undertow.start();
        }

        @Override
        public int port() {
            return ((InetSocketAddress) undertow.getListenerInfo().get(0).getAddress()).getPort();
        }

        @Override
        public Guard guard() {
            return filter.guard();
        }

        @Override
        public void close() throws Exception {
            undertow.stop();
            deployment.stop();
            deployment.undeploy();
        }
    }

    /** Without servlets. */
    private static final class HandlerServer implements ShopServer {
        private final GuardHandler guard = new GuardHandler(HandlerServer::serve, "");
        private final Undertow undertow = Undertow.builder().addHttpListener(0, "127.0.0.1").setServerOption(UndertowOptions.ENABLE_HTTP2, true)
            .setHandler(guard).build();

        HandlerServer() {
            undertow.start();
        }

        private static void serve(HttpServerExchange exchange) {
            if (exchange.isInIoThread()) {
                exchange.dispatch(HandlerServer::serve);
                return;
            }
            boolean burns = exchange.getRequestPath().equals("/burn");
            if ((burns || exchange.getRequestPath().equals("/later")) && !exchange.getRequestHeaders().contains(Headers.COOKIE)) {
                exchange.getResponseHeaders().add(Headers.SET_COOKIE, "JSESSIONID=" + UUID.randomUUID() + "; Path=/");
            }
            if (burns) {
                Shop.burn(Long.parseLong(exchange.getQueryParameters().get("ms").getFirst()));
            }
            exchange.getResponseSender().send("hello " + exchange.getRequestPath().substring(1));
        }

        @Override
        public int port() {
            return ((InetSocketAddress) undertow.getListenerInfo().get(0).getAddress()).getPort();
        }

        @Override
        public Guard guard() {
            return guard.guard();
        }

        @Override
        public void close() {
            undertow.stop();
            guard.close();
        }
    }

    /** Without servlets, over TLS. */
    private static final class TlsServer implements ShopServer {
        private final ConnectionGuard guard;
        private final Undertow undertow;

        TlsServer(int port, String options) throws Exception {
            this(port, options, false);
        }

        /** @param proxied whether a proxy is to say whose a connection is */
        TlsServer(int port, String options, boolean proxied) throws Exception {
            guard = new ConnectionGuard(Tls.ofServer(), HandlerServer::serve, options);
            var listener = new Undertow.ListenerBuilder().setType(Undertow.ListenerType.HTTPS).setPort(port).setHost("127.0.0.1")
                .setSslContext(guard.sslContext()).setUseProxyProtocol(proxied);
            undertow = Undertow.builder().addListener(listener).setServerOption(UndertowOptions.ENABLE_HTTP2, true).setHandler(guard).build();
            undertow.start();
        }

        @Override
        public int port() {
            return ((InetSocketAddress) undertow.getListenerInfo().get(0).getAddress()).getPort();
        }

        @Override
        public Guard guard() {
            return guard.guard();
        }

        @Override
        public Guard streamGuard() {
            return guard.streamGuard();
        }

        @Override
        public void close() {
            undertow.stop();
            guard.close();
        }
    }

    /** Who is silent is not closed by the guard: it sees a connection's engine, and not its socket. */
    @Test
    void new_connections_are_told_apart_before_any_cryptography() throws Exception {
        TlsScenario.lanes(TlsServer::new, false);
    }

    @Test
    void the_address_that_a_proxy_names_is_the_clients() throws Exception {
        TlsScenario.behindProxy((port, options) -> new TlsServer(port, options, true));
    }

    @Test
    void a_crowd_of_new_connections_breaks_no_session_that_is_there() throws Exception {
        TlsScenario.crowd(TlsServer::new);
    }

    @Test
    void of_streams_of_one_connection_those_of_new_sessions_are_refused() throws Exception {
        TlsScenario.streams(TlsServer::new);
    }

    @Test
    void a_connection_for_a_probe_does_not_speak_http_2() throws Exception {
        try (var server = new TlsServer(0, "cpus=1; fullCost=80000s")) {
            BusyForTest.makeBusy(server.guard());
            assertEquals("h2", TlsScenario.negotiated(server, "127.0.0.5"));
            assertEquals("http/1.1", TlsScenario.negotiated(server, "127.0.0.6"));
            assertEquals(1, server.guard().figures().getProbes());
        }
    }

    /** It decides on the I/O threads, before a worker is involved. */
    @Test
    void a_handler_guards_requests_where_there_are_no_servlets() throws Exception {
        try (var server = new HandlerServer()) {
            Scenario.completesLater(server);
        }
        try (var server = new HandlerServer()) {
            new Scenario(server).run(true);
        }
        assertTrue(assertThrows(IllegalArgumentException.class, () -> new GuardHandler(HandlerServer::serve, "objective=soon")).getMessage()
            .contains("objective: 'soon'"));
    }

    @Test
    void under_overload_the_sessions_that_are_there_go_on() throws Exception {
        try (var server = new UndertowServer()) {
            new Scenario(server).run(true);
        }
    }

    @Test
    void who_is_answered_later_is_seen_to_the_end() throws Exception {
        try (var server = new UndertowServer()) {
            Scenario.completesLater(server);
        }
    }
}
