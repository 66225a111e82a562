package dev.loadline.guard.servers;

import dev.loadline.guard.Guard;
import dev.loadline.guard.servlet.GuardFilter;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.DispatcherType;
import java.net.InetSocketAddress;
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
