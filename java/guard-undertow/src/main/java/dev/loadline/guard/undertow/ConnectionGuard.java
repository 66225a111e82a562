package dev.loadline.guard.undertow;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.Mode;
import dev.loadline.guard.RequestGate;
import dev.loadline.guard.RequestView;
import dev.loadline.guard.Serving;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Protocols;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLContext;
import org.xnio.XnioIoThread;

/**
 * Guards the connections of a listener that speaks TLS. Undertow makes a connection's engine when it accepts it: so the guard is in the
 * context that makes engines, and in a handler before all others, which answers for the requests of those connections, and for the
 * streams of those that speak HTTP/2:
 *
 * <pre>{@code
 * var guard = new ConnectionGuard(context, handler, "");
 * Undertow.builder().addHttpsListener(8443, "0.0.0.0", guard.sslContext()).setHandler(guard)
 * }</pre>
 *
 * It measures from the beginning, until it is closed.
 */
public final class ConnectionGuard implements HttpHandler, AutoCloseable {
    private final HttpHandler next;
    private final Guard guard;
    private final SSLContext context;
    private final Set<XnioIoThread> ioThreads = ConcurrentHashMap.newKeySet();
    /** Made for the first stream: whether a listener speaks HTTP/2 is not told before. */
    private volatile RequestGate streams;
    private boolean closed;

    /**
     * @param tls with its keys, of JSSE
     * @param next who serves what is let in
     * @param options see {@link GuardSettings#of}; empty: the defaults
     * @throws IllegalArgumentException saying which is wrong
     */
    public ConnectionGuard(SSLContext tls, HttpHandler next, String options) {
        this.next = next;
        guard = new Guard("connections of Undertow", GuardSettings.of(options)
            .withoutProxyProtocol("give the listener Undertow's useProxyProtocol, which the guard heeds"));
        context = new GuardedSslContext(tls, this);
        guard.start();
    }

    /** For the listener. */
    public SSLContext sslContext() {
        return context;
    }

    /** Its modes, figures and classifier. */
    public Guard guard() {
        return guard;
    }

    /** That of the streams of HTTP/2, which follows it; null before the first one, and where a {@link GuardHandler} has them. */
    public Guard streamGuard() {
        RequestGate now = streams;
        return now == null ? null : now.guard();
    }

    @Override
    public synchronized void close() {
        closed = true;
        guard.close();
        if (streams != null) {
            streams.close();
        }
    }

    private RequestGate streams() {
        RequestGate now = streams;
        return now != null || guard.mode() == Mode.OFF || GuardHandler.isThere() ? now : begin();
    }

    private synchronized RequestGate begin() {
        if (streams == null && !closed) {
            var made = RequestGate.ofStreams(guard);
            made.eventLoops(ioThreads);
            made.start();
            streams = made;
        }
        return streams;
    }

    /** A connection is read on it: how late it is, is what who comes waits for. */
    void runsOnThisThread() {
        XnioIoThread now = XnioIoThread.currentThread();
        if (now != null && ioThreads.add(now)) {
            guard.eventLoops(ioThreads);
            if (streams != null) {
                streams.eventLoops(ioThreads);
            }
        }
    }

    @Override
    public void handleRequest(HttpServerExchange exchange) throws Exception {
        GuardedEngine engine = exchange.getConnection().getSslSession() instanceof GuardedSession session ? session.engine() : null;
        if (engine == null || engine.owner() != this) {
            next.handleRequest(exchange); // of another listener, or it began while the guard was off
            return;
        }
        Serving serving = engine.serving();
        GuardedConnection connection = serving.connection();
        var view = new View(exchange, connection);
        if (exchange.getProtocol().equals(Protocols.HTTP_2_0)) {
            // Its streams run on several threads, and are not told apart by connection; that it asks for a health path is told all the same.
            if (guard.isHealth(view.path())) {
                guard.probed(connection.remoteAddress(), null);
            }
            RequestGate gate = streams();
            if (gate == null) {
                next.handleRequest(exchange);
            } else {
                GuardHandler.handle(gate, exchange, next);
            }
        } else if (connection.refusesRequest(view)) {
            BusyAnswer.send(guard.busy(), connection.page(), exchange);
        } else {
            serve(exchange, serving);
        }
    }

    /** On this I/O thread, and then on a worker, if it is given to one: that is one event. */
    private void serve(HttpServerExchange exchange, Serving serving) throws Exception {
        Executor workers = exchange.getDispatchExecutor();
        exchange.setDispatchExecutor(task -> toWorker(serving, task, workers == null ? exchange.getConnection().getWorker() : workers));
        serving.connection().dispatched();
        serving.begin();
        try {
            next.handleRequest(exchange);
        } finally {
            if (exchange.isDispatched()) {
                serving.connection().queued();
            }
            serving.end();
        }
    }

    private static void toWorker(Serving serving, Runnable task, Executor workers) {
        serving.connection().dispatched();
        try {
            workers.execute(() -> {
                serving.goOn();
                try {
                    task.run();
                } finally {
                    serving.end();
                }
            });
        } catch (RejectedExecutionException e) {
            serving.connection().queued(); // and for ever
            throw e;
        }
    }

    private record View(HttpServerExchange exchange, GuardedConnection connection) implements RequestView {
        @Override
        public String method() {
            return exchange.getRequestMethod().toString();
        }

        @Override
        public String path() {
            return exchange.getRequestURI();
        }

        @Override
        public String header(String name) {
            return exchange.getRequestHeaders().getFirst(name);
        }

        @Override
        public InetAddress remoteAddress() {
            return connection.remoteAddress();
        }

        @Override
        public int earlierRequests() {
            return connection.requests();
        }
    }
}
