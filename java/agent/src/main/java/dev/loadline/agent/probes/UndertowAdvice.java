package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServerProbes;
import io.undertow.server.AbstractServerConnection;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.ServerConnection;
import io.undertow.servlet.handlers.ServletChain;
import net.bytebuddy.asm.Advice;

/**
 * In Undertow 2, and so in WildFly: requests of HTTP/1.1, HTTP/2 and AJP. What a thread for input and output dispatches, a worker
 * goes on with. Each stream of HTTP/2 is a connection of its own to Undertow. As in {@link TomcatAdvice}, Undertow's types appear only in code.
 */
final class UndertowAdvice {
    private UndertowAdvice() {}

    /** The constructor of {@code AbstractServerConnection}. */
    static final class ConnectionOpen {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object connection) {
            ServerProbes.connectionOpen(connection, ((AbstractServerConnection) connection).getPeerAddress());
        }
    }

    /** {@code AbstractServerConnection.CloseSetter.handleEvent(channel)}: the channel was closed. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("this$0") Object connection) {
            ServerProbes.connectionClose(connection);
        }
    }

    /** {@code HttpReadListener.handleEvent(channel)}: somebody reads. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("connection") Object connection) {
            return ServerProbes.visitBegin(connection);
        }
    }

    /**
     * {@code Connectors.executeRootHandler(handler, exchange)}: a request begins, or goes on where it was dispatched; to the connection's own
     * handler again, perhaps.
     */
    static final class Handle {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.Argument(0) Object handler, @Advice.Argument(1) Object argument) {
            HttpServerExchange exchange = (HttpServerExchange) argument;
            ServerConnection connection = exchange.getConnection();
            boolean begins;
            if (connection instanceof AbstractServerConnection) {
                begins = handler == ((AbstractServerConnection) connection).getRootHandler() && ServerProbes.isFirst(exchange);
            } else {
                begins = ServerProbes.isFirst(connection);
                if (begins) {
                    ServerProbes.connectionOpen(connection, connection.getPeerAddress());
                }
            }
            long visit = ServerProbes.visitBegin(connection);
            if (begins) {
                ServerProbes.request(exchange.getRequestMethod().toString(), exchange.getRequestURI());
            }
            return visit;
        }
    }

    /** {@code HttpServerExchange.unDispatch()}: what was dispatched is about to be given to a worker. */
    static final class HandOver {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            ServerProbes.handedOver();
        }
    }

    /** {@code HttpServerExchange.invokeExchangeCompleteListeners()}, the first time. */
    static final class Complete {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object self, @Advice.FieldValue("exchangeCompletionListenersCount") int listeners) {
            if (listeners < 0) {
                return;
            }
            HttpServerExchange exchange = (HttpServerExchange) self;
            ServerConnection connection = exchange.getConnection();
            ServerProbes.visitEnd(ServerProbes.responded(connection, exchange.getStatusCode()));
            if (!(connection instanceof AbstractServerConnection)) {
                ServerProbes.connectionClose(connection);
            }
        }
    }

    /** {@code ServletInitialHandler.dispatchRequest(exchange, context, chain, type)}: filters and the servlet. */
    static final class Service {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(2) Object chain) {
            return ServerProbes.serviceBegin(((ServletChain) chain).getManagedServlet().getServletInfo().getName());
        }
    }
}
