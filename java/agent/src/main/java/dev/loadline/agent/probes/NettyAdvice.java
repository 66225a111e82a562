package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServerProbes;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ServerChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import javax.net.ssl.SSLEngine;
import net.bytebuddy.asm.Advice;

/**
 * In Netty 4, and so in what is made of it: Reactor Netty, Vert.x, Quarkus. A connection is known by its channel,
 * which is a server's if its parent is. A request of HTTP/1.1 lasts from its first line to the last part of its response;
 * what threads other than the event loop do for it is told of Quarkus' REST alone. As in {@link TomcatAdvice}, Netty's types appear only in
 * code.
 */
final class NettyAdvice {
    private NettyAdvice() {}

    /** {@code DefaultChannelPipeline.fireChannelActive()}. */
    static final class ConnectionOpen {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("channel") Object channel) {
            if (ServerProbes.isOn() && ((Channel) channel).parent() instanceof ServerChannel) {
                ServerProbes.connectionOpen(channel, ((Channel) channel).remoteAddress());
            }
        }
    }

    /** {@code DefaultChannelPipeline.fireChannelInactive()}. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("channel") Object channel) {
            if (ServerProbes.isOn() && ((Channel) channel).parent() instanceof ServerChannel) {
                ServerProbes.connectionClose(channel);
            }
        }
    }

    /** {@code DefaultChannelPipeline.fireChannelRead(message)}: what was read goes through the pipeline. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("channel") Object channel) {
            return ServerProbes.isOn() && ((Channel) channel).parent() instanceof ServerChannel
                    ? ServerProbes.visitBegin(channel)
                    : 0;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter long visit) {
            ServerProbes.visitEnd(visit);
        }
    }

    /** {@code SslHandler.decode(context, in, out)}, of servers. */
    static final class Handshake {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.FieldValue("engine") SSLEngine engine, @Advice.FieldValue("handshakePromise") Object handshake) {
            if (ServerProbes.isOn() && !engine.getUseClientMode() && !((Future<?>) handshake).isDone()) {
                ServerProbes.engineShakesHands();
            }
        }
    }

    /** {@code SslHandler.setHandshakeSuccess()}. Which kind it was its certificate has told. */
    static final class HandshakeDone {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit() {
            ServerProbes.engineIsDone(true, false);
        }
    }

    /** {@code SslHandler.setHandshakeFailure(…)}. */
    static final class HandshakeFailed {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            ServerProbes.engineIsDone(false, false);
        }
    }

    /** {@code HttpRequestDecoder.createMessage(initialLine)}: the first line was read. */
    static final class Request {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Return Object message) {
            if (ServerProbes.isOn() && message instanceof HttpRequest) {
                ServerProbes.request(((HttpRequest) message).method().name(), ((HttpRequest) message).uri());
            }
        }
    }

    /** {@code HttpObjectEncoder.encode(context, message, out)}, of responses. Those before the final one end nothing. */
    static final class Response {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object encoder, @Advice.Argument(0) Object context, @Advice.Argument(1) Object message) {
            if (!ServerProbes.isOn() || !(encoder instanceof HttpResponseEncoder)) {
                return;
            }
            int status = message instanceof HttpResponse ? ((HttpResponse) message).status().code() : 0;
            boolean ends = message instanceof LastHttpContent;
            if (status == 100 || status == 102 || status == 103 || (status == 0 && !ends)) {
                return;
            }
            long visit = ServerProbes.visitBegin(((ChannelHandlerContext) context).channel());
            if (status != 0) {
                ServerProbes.status(status);
            }
            if (ends) {
                ServerProbes.requestEnd();
            }
            ServerProbes.visitEnd(visit);
        }
    }

    /** The constructor of Quarkus' {@code AbstractResteasyReactiveContext}: a request's, on the event loop. */
    static final class Carry {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object task) {
            ServerProbes.carry(task);
        }
    }

    /** Its {@code run()}, on the event loop or by an executor. */
    static final class Carried {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.This Object task) {
            return ServerProbes.carriedBegin(task);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter long visit) {
            ServerProbes.visitEnd(visit);
        }
    }
}
