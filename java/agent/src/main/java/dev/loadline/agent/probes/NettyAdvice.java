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
import java.util.List;
import javax.net.ssl.SSLEngine;
import net.bytebuddy.asm.Advice;

/**
 * In Netty 4, and so in what is made of it: Reactor Netty, Vert.x, Quarkus. A connection is known by its channel,
 * which is a server's if its parent is; a stream of HTTP/2 is one too, whose parent is its connection's. A request of HTTP/1.1 lasts from its first
 * line to the last part of its response, one of HTTP/2 from its headers on, where streams have channels and
 * speak to handlers of HTTP/1.1. What other threads do for it {@link TaskAdvice} tells. As in {@link TomcatAdvice}, Netty's types appear only in code.
 */
final class NettyAdvice {
    private NettyAdvice() {}

    /** {@code DefaultChannelPipeline.fireChannelActive()}. */
    static final class ConnectionOpen {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("channel") Object channel) {
            Channel parent = ((Channel) channel).parent();
            if (parent instanceof ServerChannel || parent != null && parent.parent() instanceof ServerChannel) {
                ServerProbes.connectionOpen(channel, ((Channel) channel).remoteAddress());
            }
        }
    }

    /** {@code DefaultChannelPipeline.fireChannelInactive()}. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("channel") Object channel) {
            Channel parent = ((Channel) channel).parent();
            if (parent instanceof ServerChannel || parent != null && parent.parent() instanceof ServerChannel) {
                ServerProbes.connectionClose(channel);
            }
        }
    }

    /** {@code DefaultChannelPipeline.fireChannelRead(message)}: what was read goes through the pipeline. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("channel") Object channel) {
            Channel parent = ((Channel) channel).parent();
            return parent instanceof ServerChannel || parent != null && parent.parent() instanceof ServerChannel
                    ? ServerProbes.loopVisitBegin(channel)
                    : 0;
        }
    }

    /** {@code SslHandler.decode(context, in, out)}, of servers. */
    static final class Handshake {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.FieldValue("engine") SSLEngine engine, @Advice.FieldValue("handshakePromise") Object handshake) {
            if (!engine.getUseClientMode() && !((Future<?>) handshake).isDone()) {
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
            if (message instanceof HttpRequest) {
                ServerProbes.request(((HttpRequest) message).method().name(), ((HttpRequest) message).uri());
            }
        }
    }

    /** {@code HttpObjectEncoder.encode(context, message, out)}, of responses. */
    static final class Response {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object encoder, @Advice.Argument(0) Object context, @Advice.Argument(1) Object message) {
            if (encoder instanceof HttpResponseEncoder) {
                int status = message instanceof HttpResponse ? ((HttpResponse) message).status().code() : 0;
                ServerProbes.answersInPart(((ChannelHandlerContext) context).channel(), status, message instanceof LastHttpContent);
            }
        }
    }

    /** {@code Http2StreamFrameToHttpObjectCodec.decode(context, frame, out)}: of headers it makes a request. */
    static final class StreamRequest {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(2) List<?> out) {
            Object made = out.isEmpty() ? null : out.get(out.size() - 1);
            if (made instanceof HttpRequest) {
                ServerProbes.request(((HttpRequest) made).method().name(), ((HttpRequest) made).uri());
            }
        }
    }

    /** Its {@code encode(context, message, out)}, on either side. */
    static final class StreamResponse {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(0) Object context, @Advice.Argument(1) Object message) {
            Channel stream = ((ChannelHandlerContext) context).channel();
            Channel connection = stream.parent();
            if (connection != null && connection.parent() instanceof ServerChannel) {
                int status = message instanceof HttpResponse ? ((HttpResponse) message).status().code() : 0;
                ServerProbes.answersInPart(stream, status, message instanceof LastHttpContent);
            }
        }
    }
}
