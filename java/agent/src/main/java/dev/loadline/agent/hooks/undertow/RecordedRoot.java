package dev.loadline.agent.hooks.undertow;

import dev.loadline.agent.boot.HandshakeProbes;
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
    /** On an exchange that was told. */
    private static final AttachmentKey<Boolean> KNOWN = AttachmentKey.create(Boolean.class);
    /** On a connection that was told: as what. */
    private static final AttachmentKey<Object> TOLD = AttachmentKey.create(Object.class);

    final HttpHandler handler;
    /** What is attached to a connection is for the thread that is at it: those from before are kept apart. */
    private final Set<ServerConnection> before = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    RecordedRoot(HttpHandler handler) {
        this.handler = handler;
    }

    void wasThere(AbstractServerConnection connection) {
        before.add(connection);
    }

    @Override
    public void handleRequest(HttpServerExchange exchange) throws Exception {
        ServerConnection connection = exchange.getConnection();
        boolean begins = exchange.putAttachment(KNOWN, true) == null; // else it was dispatched to this handler again
        Object told = connection; // a stream of HTTP/2
        if (connection instanceof AbstractServerConnection) {
            told = told((AbstractServerConnection) connection);
        } else if (begins) {
            ServerProbes.streamOpen(connection, connection.getPeerAddress());
        }
        long visit = ServerProbes.visitBegin(told);
        try {
            if (begins) {
                begins(exchange, connection, told);
            }
            handler.handleRequest(exchange);
        } finally {
            ServerProbes.visitEnd(visit);
        }
    }

    private Object told(AbstractServerConnection connection) {
        Object known = connection.getAttachment(TOLD);
        if (known != null) {
            return known;
        }
        Object told = EarlyEngine.of(connection);
        connection.putAttachment(TOLD, told);
        if (!before.contains(connection)) {
            HandshakeProbes.connected(told, connection.getPeerAddress());
        }
        connection.addCloseListener(closed -> ServerProbes.connectionClose(told));
        return told;
    }

    private static void begins(HttpServerExchange exchange, ServerConnection connection, Object told) {
        ServerProbes.request(exchange.getRequestMethod().toString(), exchange.getRequestURI());
        Executor workers = exchange.getDispatchExecutor();
        exchange.setDispatchExecutor(new Workers(workers == null ? connection.getWorker() : workers, told));
        exchange.addExchangeCompleteListener((answered, next) -> {
            ServerProbes.visitEnd(ServerProbes.responded(told, answered.getStatusCode()));
            if (!(connection instanceof AbstractServerConnection)) {
                ServerProbes.connectionClose(connection);
            }
            next.proceed();
        });
    }

    /** Those that a request is dispatched to, unless it says to whom. */
    private static final class Workers implements Executor {
        private final Executor workers;
        private final Object told;

        Workers(Executor workers, Object told) {
            this.workers = workers;
            this.told = told;
        }

        @Override
        public void execute(Runnable task) {
            ServerProbes.queued(told, true);
            workers.execute(() -> {
                long visit = ServerProbes.visitBegin(told);
                try {
                    task.run();
                } finally {
                    ServerProbes.visitEnd(visit);
                }
            });
        }
    }
}
