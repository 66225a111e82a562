package dev.loadline.guard.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.Guard;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.RequestView;
import dev.loadline.guard.servlet.GuardFilter;
import jakarta.servlet.DispatcherType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.EnumSet;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
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
