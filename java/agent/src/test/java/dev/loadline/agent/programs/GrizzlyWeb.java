package dev.loadline.agent.programs;

import com.shop.Door;
import dev.loadline.agent.testing.Program;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.servlet.FilterRegistration;
import org.glassfish.grizzly.servlet.ServletRegistration;
import org.glassfish.grizzly.servlet.WebappContext;

/** Grizzly's servlet container on a free port, which the agent has no probes for: servlets behind a filter. */
public final class GrizzlyWeb extends Program {
    public static void main(String[] arguments) throws Exception {
        new GrizzlyWeb().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        if (!command.equals("start")) {
            throw new IllegalArgumentException(command);
        }
        HttpServer server = new HttpServer();
        NetworkListener listener = new NetworkListener("http", "127.0.0.1", 0);
        server.addListener(listener);
        WebappContext context = new WebappContext("shop", "");
        add(context, "hello", new Hello());
        add(context, "later", new Later());
        add(context, "again", new Again());
        add(context, "within", new Within());
        add(context, "fails", new Fails());
        FilterRegistration door = context.addFilter("door", new Door());
        door.setAsyncSupported(true);
        door.addMappingForUrlPatterns(null, "/*");
        context.deploy(server);
        server.start();
        return Integer.toString(listener.getPort());
    }

    private static void add(WebappContext context, String name, HttpServlet servlet) {
        ServletRegistration registration = context.addServlet(name, servlet);
        registration.setAsyncSupported(true);
        registration.addMapping("/" + name);
    }

    /** Has another servlet answer, later. */
    private static final class Again extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
            AsyncContext async = request.startAsync();
            new Thread(() -> {
                try {
                    Thread.sleep(50);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                async.dispatch("/hello");
            }, "again").start();
        }
    }

    /** Has another servlet answer at once. */
    private static final class Within extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
            request.getRequestDispatcher("/hello").forward(request, response);
        }
    }

    private static final class Fails extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException {
            throw new ServletException("it fails");
        }
    }
}
