package dev.loadline.agent.hooks.undertow;

import dev.loadline.agent.boot.ServerProbes;
import io.undertow.server.AbstractServerConnection;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.ServerConnection;
import io.undertow.util.AttachmentKey;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.Executor;

/** Tells of requests, and has them handled as they were. */
final class RecordedRoot implements HttpHandler {
    /** On a connection or an exchange that a request of was told. */
    private static final AttachmentKey<Boolean> KNOWN = AttachmentKey.create(Boolean.class);

    final HttpHandler handler;
    /** What is attached to a connection is for the thread that is at it: those from before are kept apart. */
    private final Set<ServerConnection> before = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private volatile boolean behindTls;

    RecordedRoot(HttpHandler handler) {
        this.handler = handler;
    }

    /** Whether a connection of it had TLS. */
    boolean isBehindTls() {
        return behindTls;
    }

    void wasThere(AbstractServerConnection connection) {
        before.add(connection);
    }

    @Override
    public void handleRequest(HttpServerExchange exchange) throws Exception {
        ServerConnection connection = exchange.getConnection();
        boolean begins = exchange.putAttachment(KNOWN, true) == null; // else it was dispatched to this handler again
        if (begins) {
            seen(connection);
        }
        long visit = ServerProbes.visitBegin(connection);
        try {
            if (begins) {
                begins(exchange, connection);
            }
            handler.handleRequest(exchange);
        } finally {
            ServerProbes.visitEnd(visit);
        }
    }

    private void seen(ServerConnection connection) {
        behindTls = behindTls || connection.getSslSession() != null;
        if (!(connection instanceof AbstractServerConnection)) { // a stream of HTTP/2
            ServerProbes.connectionOpen(connection, connection.getPeerAddress());
        } else if (connection.putAttachment(KNOWN, true) == null) {
            if (!before.contains(connection)) {
                ServerProbes.connectionOpen(connection, connection.getPeerAddress());
            }
            connection.addCloseListener(ServerProbes::connectionClose);
        }
    }

    private static void begins(HttpServerExchange exchange, ServerConnection connection) {
        ServerProbes.request(exchange.getRequestMethod().toString(), exchange.getRequestURI());
        Executor workers = exchange.getDispatchExecutor();
        exchange.setDispatchExecutor(new Workers(workers == null ? connection.getWorker() : workers, connection));
        exchange.addExchangeCompleteListener((answered, next) -> {
            ServerProbes.visitEnd(ServerProbes.responded(connection, answered.getStatusCode()));
            if (!(connection instanceof AbstractServerConnection)) {
                ServerProbes.connectionClose(connection);
            }
            next.proceed();
        });
    }

    /** Those that a request is dispatched to, unless it says to whom. */
    private static final class Workers implements Executor {
        private final Executor workers;
        private final ServerConnection connection;

        Workers(Executor workers, ServerConnection connection) {
            this.workers = workers;
            this.connection = connection;
        }

        @Override
        public void execute(Runnable task) {
            ServerProbes.queued(connection, true);
            workers.execute(() -> {
                long visit = ServerProbes.visitBegin(connection);
                try {
                    task.run();
                } finally {
                    ServerProbes.visitEnd(visit);
                }
            });
        }
    }
}
