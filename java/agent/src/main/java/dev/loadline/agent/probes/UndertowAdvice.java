package dev.loadline.agent.probes;

import dev.loadline.agent.boot.HandshakeProbes;
import dev.loadline.agent.boot.ServerProbes;
import io.undertow.server.AbstractServerConnection;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.ServerConnection;
import io.undertow.servlet.handlers.ServletChain;
import javax.net.ssl.SSLEngine;
import net.bytebuddy.asm.Advice;
import org.xnio.StreamConnection;

/**
 * In Undertow 2, and so in WildFly: requests of HTTP/1.1, HTTP/2 and AJP. What a thread for input and output dispatches, a worker
 * goes on with. A connection is known by its socket, whose handshake it may come after; each stream of HTTP/2 is one of its own to
 * Undertow. As in {@link TomcatAdvice}, Undertow's types appear only in code.
 */
final class UndertowAdvice {
    private UndertowAdvice() {}

    /** The constructor of {@code AbstractServerConnection}. */
    static final class ConnectionOpen {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object connection) {
            StreamConnection socket = ((AbstractServerConnection) connection).getChannel();
            HandshakeProbes.connected(socket, socket.getPeerAddress());
        }
    }

    /** {@code AbstractServerConnection.CloseSetter.handleEvent(channel)}: the channel was closed. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("this$0") Object connection) {
            ServerProbes.connectionClose(((AbstractServerConnection) connection).getChannel());
        }
    }

    /** {@code SslConduit.doUnwrap(buffers, offset, length)} and {@code doWrap} of a server's, until the handshake is over. Its tasks run in them. */
    static final class HandshakeStep {
        /** Of the field {@code state}, the same in each release: a handshake, and what is closed. */
        private static final int IN_HANDSHAKE = 1 << 11;
        private static final int CLOSED = 1 << 12 | 1 << 13 | 1 << 14;
        private static final long NONE = -1;

        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(
                @Advice.FieldValue("state") int state,
                @Advice.FieldValue("engine") SSLEngine engine,
                @Advice.FieldValue("connection") Object socket) {
            return (state & (IN_HANDSHAKE | CLOSED)) != IN_HANDSHAKE || engine.getUseClientMode()
                    ? NONE
                    : HandshakeProbes.stepBegin(socket, ((StreamConnection) socket).getPeerAddress(), engine);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.Enter long visit, @Advice.FieldValue("state") int state, @Advice.Thrown Throwable thrown) {
            if (visit == NONE) {
                return;
            }
            boolean done = (state & IN_HANDSHAKE) == 0;
            if (done || thrown != null || (state & CLOSED) != 0) {
                HandshakeProbes.lastStepEnd(visit, done && thrown == null);
            } else {
                HandshakeProbes.stepEnd(visit);
            }
        }
    }

    /** {@code SslConduit.closed()}. */
    static final class HandshakeGone {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.FieldValue("connection") Object socket) {
            HandshakeProbes.closed(socket);
        }
    }

    /** {@code HttpReadListener.handleEvent(channel)}: somebody reads. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("connection") Object connection) {
            return ServerProbes.visitBegin(((AbstractServerConnection) connection).getChannel());
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
            Object told = connection; // a stream of HTTP/2
            boolean begins;
            if (connection instanceof AbstractServerConnection) {
                told = ((AbstractServerConnection) connection).getChannel();
                begins = handler == ((AbstractServerConnection) connection).getRootHandler() && ServerProbes.isFirst(exchange);
            } else {
                begins = ServerProbes.isFirst(connection);
                if (begins) {
                    ServerProbes.streamOpen(connection, connection.getPeerAddress());
                }
            }
            long visit = ServerProbes.visitBegin(told);
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
            if (connection instanceof AbstractServerConnection) {
                Object socket = ((AbstractServerConnection) connection).getChannel();
                ServerProbes.visitEnd(ServerProbes.responded(socket, exchange.getStatusCode()));
            } else {
                ServerProbes.visitEnd(ServerProbes.responded(connection, exchange.getStatusCode()));
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
