package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Field;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty with HTTPS on a free port, HTTP/1.1 and 2, and a few servlets. System properties: web.tls, web.keystore,
 * web.virtual, web.threads. Told {@code parts}, it says what its parts are.
 */
public final class JettyWeb extends Program {
    private static final String PASSWORD = "changeit";
    private static final int THREADS = 16;

    public static void main(String[] arguments) throws Exception {
        new JettyWeb().serve();
    }

    private Server server;
    private ServerConnector connector;
    private ServletContextHandler context;

    @Override
    protected String handle(String command) throws Exception {
        if (command.equals("parts")) {
            Field jobs = QueuedThreadPool.class.getDeclaredField("_jobs");
            jobs.setAccessible(true);
            return server.getHandler().getClass() + " " + jobs.get(server.getThreadPool()).getClass() + " " + connector.getDefaultConnectionFactory().getClass() + " "
                    + connector.getEventListeners() + " " + context.getEventListeners();
        }
        if (!command.equals("start")) {
            throw new IllegalArgumentException(command);
        }
        QueuedThreadPool threads = new QueuedThreadPool(Integer.getInteger("web.threads", THREADS));
        if (Boolean.getBoolean("web.virtual")) {
            threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor());
        }
        server = new Server(threads);
        SslContextFactory.Server ssl = new SslContextFactory.Server();
        ssl.setKeyStorePath(System.getProperty("web.keystore"));
        ssl.setKeyStorePassword(PASSWORD);
        ssl.setIncludeProtocols(System.getProperty("web.tls", "TLSv1.3"));
        HttpConfiguration http = new HttpConfiguration();
        http.addCustomizer(new SecureRequestCustomizer(false));
        HttpConnectionFactory http1 = new HttpConnectionFactory(http);
        ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
        alpn.setDefaultProtocol(http1.getProtocol());
        connector = new ServerConnector(server, new SslConnectionFactory(ssl, alpn.getProtocol()), alpn,
                new HTTP2ServerConnectionFactory(http), http1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        context = new ServletContextHandler("/");
        add(context, "hello", new Hello());
        add(context, "later", new Later());
        add(context, "blocks", new Blocks());
        add(context, "pooled", new Pooled());
        add(context, "nearby", new AsksNearby());
        add(context, "calls", new Calls(connector));
        server.setHandler(context);
        server.start();
        return Integer.toString(connector.getLocalPort());
    }

    private static void add(ServletContextHandler context, String name, HttpServlet servlet) {
        ServletHolder holder = new ServletHolder(name, servlet);
        holder.setAsyncSupported(true);
        context.addServlet(holder, "/" + name);
    }

    /** Keeps its thread for a while. */
    private static final class Blocks extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            response.setContentLength(0);
        }
    }

    /** Asks this server itself for a page, by Jetty's client: its connections are none of the server's. */
    private static final class Calls extends HttpServlet {
        private final ServerConnector connector;

        Calls(ServerConnector connector) {
            this.connector = connector;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            SslContextFactory.Client trustsAll = new SslContextFactory.Client(true);
            trustsAll.setEndpointIdentificationAlgorithm(null);
            try (HttpClient client = new HttpClient()) {
                client.setSslContextFactory(trustsAll);
                client.start();
                response.setStatus(client.GET("https://127.0.0.1:" + connector.getLocalPort() + "/hello").getStatus());
                response.setContentLength(0);
            } catch (Exception e) {
                throw new IOException(e);
            }
        }
    }
}
