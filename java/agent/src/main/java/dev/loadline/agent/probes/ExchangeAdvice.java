package dev.loadline.agent.probes;

import com.sun.net.httpserver.HttpExchange;
import dev.loadline.agent.boot.ExchangeProbes;
import dev.loadline.agent.boot.ServerProbes;
import java.net.URI;
import net.bytebuddy.asm.Advice;

/** In the JDK's own HTTP server (module {@code jdk.httpserver}), of any release: its types are private, and so objects here. */
final class ExchangeAdvice {
    private ExchangeAdvice() {}

    /** {@code HttpConnection.setChannel(channel)}: it was accepted. */
    static final class ConnectionOpen {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object connection, @Advice.Argument(0) Object channel) {
            ServerProbes.connectionOpen(connection, channel);
        }
    }

    /** {@code HttpConnection.close()}, the first time. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object connection, @Advice.FieldValue("closed") boolean closed) {
            if (!closed) {
                ServerProbes.connectionClose(connection);
            }
        }
    }

    /** {@code ServerImpl.Dispatcher.handle(channel, connection)}: an exchange for whichever thread the executor has. */
    static final class Queued {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(1) Object connection) {
            ServerProbes.queued(connection, true);
        }
    }

    /** {@code ServerImpl.Exchange.run()}: reads a request and has it handled; who handles it may leave it to others. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("connection") Object connection) {
            return ServerProbes.loopVisitBegin(connection);
        }
    }

    /** {@code SSLStreams.doHandshake(status)}: all of it, with what it waits for the client. Which kind it was its certificate has told. */
    static final class Handshake {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter() {
            return ServerProbes.tlsEnter();
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch, @Advice.Thrown Throwable thrown) {
            ServerProbes.tlsExit(epoch, thrown == null ? 0 : -1, null);
        }
    }

    /** The constructor of {@code ExchangeImpl}: a request's head was read, and there is a context for it. */
    static final class Begins {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object exchange,
                @Advice.Argument(0) String method,
                @Advice.Argument(1) Object uri,
                @Advice.Argument(4) Object connection) {
            ExchangeProbes.begins(exchange, connection, method, ((URI) uri).getRawPath());
        }
    }

    /** {@code ServerImpl.Exchange.reject(code, line, message)}: no context, or no request. It closes the connection before it ends. */
    static final class Rejected {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) int code, @Advice.Argument(1) String line) {
            ExchangeProbes.rejected(line, code);
        }
    }

    /** {@code Filter.Chain.doFilter(exchange)}: filters and the handler; the first of them has all the others within. */
    static final class Service {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(0) Object exchange) {
            return ExchangeProbes.serviceBegin(((HttpExchange) exchange).getHttpContext().getPath());
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            ExchangeProbes.serviceEnd(epoch);
        }
    }

    /** {@code ExchangeImpl.sendResponseHeaders(code, length)}, on any thread. */
    static final class Answered {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("connection") Object connection, @Advice.Argument(0) int code) {
            ServerProbes.answersInPart(connection, code, false);
        }
    }

    /** The constructor of the event that says of an exchange that its response's last byte is written; there is none from JDK 27 on. */
    static final class Written {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(0) Object exchange) {
            ExchangeProbes.written(exchange);
        }
    }

    /** {@code ExchangeImpl.postExchangeFinished(written)}, from JDK 27 on: its response's last byte is written, or none will be. */
    static final class Finished {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object exchange, @Advice.Argument(0) boolean written) {
            if (written) {
                ExchangeProbes.written(exchange);
            }
        }
    }
}
