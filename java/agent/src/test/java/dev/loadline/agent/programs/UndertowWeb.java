package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.OpenListener;
import io.undertow.server.handlers.PathHandler;
import io.undertow.server.protocol.http2.Http2UpgradeHandler;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentManager;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.util.List;
import org.xnio.Options;
import org.xnio.Sequence;

/** Undertow on a free port: handlers that answer at once, by a worker, and from another thread; and a servlet. */
public final class UndertowWeb extends Program {
    public static void main(String[] arguments) throws Exception {
        new UndertowWeb().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        switch (command) {
            case "start":
                return serve(pages(), true);
            case "tls":
                server = Undertow.builder().addHttpsListener(0, "127.0.0.1", JdkWeb.keys())
                        .setServerOption(UndertowOptions.ENABLE_HTTP2, true)
                        .setSocketOption(Options.SSL_ENABLED_PROTOCOLS, Sequence.of(System.getProperty("web.tls")))
                        .setHandler(pages()).build();
                server.start();
                return port();
            case "context":
                return server.getListenerInfo().get(0).getSslContext().getClass().getName();
            case "self":
                return serve(new Itself(), false);
            case "root":
                HttpHandler root = root();
                return root.getClass().getName() + (root instanceof Http2UpgradeHandler ? " " + next(root) : "");
            default:
                throw new IllegalArgumentException(command);
        }
    }

    /** The handler of the one port there is. */
    private HttpHandler root() throws ReflectiveOperationException {
        Field channels = Undertow.class.getDeclaredField("listenerInfo");
        channels.setAccessible(true);
        Field listener = Undertow.ListenerInfo.class.getDeclaredField("openListener");
        listener.setAccessible(true);
        return ((OpenListener) listener.get(((List<?>) channels.get(server)).get(0))).getRootHandler();
    }

    private static Class<?> next(HttpHandler upgrades) throws ReflectiveOperationException {
        Field next = Http2UpgradeHandler.class.getDeclaredField("next");
        next.setAccessible(true);
        return next.get(upgrades).getClass();
    }

    private Undertow server;

    private String serve(HttpHandler root, boolean http2) {
        server = Undertow.builder().addHttpListener(0, "127.0.0.1").setServerOption(UndertowOptions.ENABLE_HTTP2, http2)
                .setHandler(root).build();
        server.start();
        return port();
    }

    private String port() {
        return Integer.toString(((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort());
    }

    private static PathHandler pages() throws Exception {
        DeploymentManager servlets = Servlets.defaultContainer().addDeployment(Servlets.deployment()
                .setClassLoader(UndertowWeb.class.getClassLoader()).setContextPath("/").setDeploymentName("shop")
                .addServlet(Servlets.servlet("shop", Shop.class).addMapping("/servlet")));
        servlets.deploy();
        return Handlers.path(servlets.start())
                .addExactPath("/hello", exchange -> exchange.getResponseSender().send("hello"))
                .addExactPath("/worker", exchange -> exchange.dispatch(UndertowWeb::work))
                .addExactPath("/later", exchange -> exchange.dispatch((Runnable) () -> later(exchange)));
    }

    /** All there is, and what it dispatches to. */
    private static final class Itself implements HttpHandler {
        @Override
        public void handleRequest(HttpServerExchange exchange) throws Exception {
            if (exchange.isInIoThread()) {
                exchange.dispatch(this);
            } else {
                work(exchange);
            }
        }
    }

    private static void work(HttpServerExchange exchange) throws InterruptedException {
        Thread.sleep(10);
        exchange.getResponseSender().send("work");
    }

    private static void later(HttpServerExchange exchange) {
        new Thread(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            exchange.setStatusCode(202).getResponseSender().send("later");
        }, "later").start();
    }

    /** Made by the container. */
    public static final class Shop extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getOutputStream().print("shop");
        }
    }
}
