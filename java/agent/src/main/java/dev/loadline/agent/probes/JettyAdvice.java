package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServerProbes;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLEngine;
import net.bytebuddy.asm.Advice;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.internal.HttpChannelState;

/**
 * In Jetty 12. A connection is known by its end point; what stands before that, for TLS or a proxy's header, is
 * unwrapped, where it is needed each time: advice is copied into Jetty, which knows no method of this class. As in
 * {@link TomcatAdvice}, Jetty's types appear only in code.
 */
final class JettyAdvice {
    private JettyAdvice() {}

    /** {@code AbstractConnector.onEndPointOpened(endPoint)}. */
    static final class ConnectionOpen {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object endPoint) {
            ServerProbes.connectionOpen(endPoint, ((EndPoint) endPoint).getRemoteSocketAddress());
        }
    }

    /** {@code AbstractConnector.onEndPointClosed(endPoint)}. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object endPoint) {
            ServerProbes.connectionClose(endPoint);
        }
    }

    /** {@code SelectableChannelEndPoint.onSelected()}: what it returns to read is for whoever comes; clients have some, too. */
    static final class Selected {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object endPoint,
                @Advice.Return Object task,
                @Advice.FieldValue("_runCompleteWrite") Object onlyWrites) {
            if (task != null && task != onlyWrites) {
                Connection connection = ((EndPoint) endPoint).getConnection();
                ServerProbes.queued(endPoint, connection instanceof SslConnection
                        ? !((SslConnection) connection).getSSLEngine().getUseClientMode()
                        : connection != null && connection.getClass().getName().contains(".server."));
            }
        }
    }

    /** {@code HttpConnection.onFillable()}: somebody reads, and serves what is there. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.This Object connection) {
            EndPoint endPoint = ((Connection) connection).getEndPoint();
            while (endPoint instanceof EndPoint.Wrapper) {
                endPoint = ((EndPoint.Wrapper) endPoint).unwrap();
            }
            return ServerProbes.visitBegin(endPoint);
        }
    }

    /** {@code SslConnection.onFillable()}, of servers: around what the connection behind it reads, and a step of its handshake. */
    static final class TlsVisit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(
                @Advice.This Object connection,
                @Advice.FieldValue("_sslEngine") SSLEngine engine,
                @Advice.FieldValue("_handshake") AtomicReference<?> handshake) {
            if (engine.getUseClientMode()) {
                return 0;
            }
            EndPoint endPoint = ((Connection) connection).getEndPoint();
            while (endPoint instanceof EndPoint.Wrapper) {
                endPoint = ((EndPoint.Wrapper) endPoint).unwrap();
            }
            long visit = ServerProbes.visitBegin(endPoint);
            String state = String.valueOf(handshake.get()); // of a type that is private
            if (!state.equals("SUCCEEDED") && !state.equals("FAILED")) {
                ServerProbes.engineShakesHands(engine);
            }
            return visit;
        }
    }

    /** {@code SslConnection.SslEndPoint.handshakeSucceeded()}, from 12.1 on {@code locked…}. Which kind it was its certificate, or the engine, has told. */
    static final class HandshakeDone {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit() {
            ServerProbes.engineIsDone(true, false);
        }
    }

    /** {@code SslConnection.SslEndPoint.handshakeFailed(failure)}: also told of failures after it. */
    static final class HandshakeFailed {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            ServerProbes.engineIsDone(false, false);
        }
    }

    /** {@code HttpConnection.RequestHandler.startRequest}: the first line is read. */
    static final class Parse {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            ServerProbes.parse();
        }
    }

    /** {@code HttpChannelState.HandlerInvoker.run()}: a request is handled, with HTTP/2 by a thread of its own. */
    static final class Handle {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("this$0") Object outer) {
            HttpChannelState channel = (HttpChannelState) outer;
            EndPoint endPoint = channel.getConnectionMetaData().getConnection().getEndPoint();
            while (endPoint instanceof EndPoint.Wrapper) {
                endPoint = ((EndPoint.Wrapper) endPoint).unwrap();
            }
            long visit = ServerProbes.visitBegin(endPoint);
            Request request = channel.getRequest();
            if (request != null) {
                ServerProbes.request(request.getMethod(), request.getHttpURI().getPath());
            }
            return visit;
        }
    }

    /** {@code HttpChannelState.completeStream}: the response is out. Of an asynchronous request on any thread. */
    static final class Complete {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.This Object self) {
            HttpChannelState channel = (HttpChannelState) self;
            EndPoint endPoint = channel.getConnectionMetaData().getConnection().getEndPoint();
            while (endPoint instanceof EndPoint.Wrapper) {
                endPoint = ((EndPoint.Wrapper) endPoint).unwrap();
            }
            int status = channel.getResponse() == null ? 0 : channel.getResponse().getStatus();
            return ServerProbes.responded(endPoint, status == 0 ? 200 : status);
        }
    }

    /** The same up to 12.0, where it is the method of {@code HandlerInvoker}. */
    static final class CompleteInvoker {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("this$0") Object outer) {
            HttpChannelState channel = (HttpChannelState) outer;
            EndPoint endPoint = channel.getConnectionMetaData().getConnection().getEndPoint();
            while (endPoint instanceof EndPoint.Wrapper) {
                endPoint = ((EndPoint.Wrapper) endPoint).unwrap();
            }
            int status = channel.getResponse() == null ? 0 : channel.getResponse().getStatus();
            return ServerProbes.responded(endPoint, status == 0 ? 200 : status);
        }
    }

    /** {@code ServletHandler.MappedServlet.handle}, of Jakarta EE 10 and 11: filters and the servlet. */
    static final class Service {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(2) Object request) {
            return ServerProbes.serviceBegin(((jakarta.servlet.http.HttpServletRequest) request).getHttpServletMapping().getServletName());
        }
    }
}
