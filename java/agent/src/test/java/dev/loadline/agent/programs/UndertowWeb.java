package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.PathHandler;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentManager;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Undertow on a free port: handlers that answer at once, by a worker, and from another thread; and a servlet. */
public final class UndertowWeb extends Program {
    public static void main(String[] arguments) throws Exception {
        new UndertowWeb().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        if (!command.equals("start")) {
            throw new IllegalArgumentException(command);
        }
        DeploymentManager servlets = Servlets.defaultContainer().addDeployment(Servlets.deployment()
                .setClassLoader(UndertowWeb.class.getClassLoader()).setContextPath("/").setDeploymentName("shop")
                .addServlet(Servlets.servlet("shop", Shop.class).addMapping("/servlet")));
        servlets.deploy();
        PathHandler pages = Handlers.path(servlets.start())
                .addExactPath("/hello", exchange -> exchange.getResponseSender().send("hello"))
                .addExactPath("/worker", exchange -> exchange.dispatch(UndertowWeb::work))
                .addExactPath("/later", exchange -> exchange.dispatch((Runnable) () -> later(exchange)));
        Undertow server = Undertow.builder().addHttpListener(0, "127.0.0.1").setHandler(pages).build();
        server.start();
        return Integer.toString(((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort());
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
