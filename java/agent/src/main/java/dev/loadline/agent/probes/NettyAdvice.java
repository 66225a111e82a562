package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.boot.StreamProbes;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ServerChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import javax.net.ssl.SSLEngine;
import net.bytebuddy.asm.Advice;

/**
 * In Netty 4, and so in what is made of it: Reactor Netty, Vert.x, Quarkus, Armeria. A connection is known by its channel,
 * which is a server's if its parent is. A request of HTTP/1.1 lasts from its first line to the last part of its response. HTTP/2 is heard
 * where its frames have become streams and are not yet anything of whoever made the server. What other threads do for a request
 * {@link TaskAdvice} tells. As in {@link TomcatAdvice}, Netty's types appear only in code.
 */
final class NettyAdvice {
    private NettyAdvice() {}

    /** {@code DefaultChannelPipeline.fireChannelActive()}. */
    static final class ConnectionOpen {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("channel") Object channel) {
            if (((Channel) channel).parent() instanceof ServerChannel) {
                ServerProbes.connectionOpen(channel, ((Channel) channel).remoteAddress());
            }
        }
    }

    /** {@code DefaultChannelPipeline.fireChannelInactive()}. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("channel") Object channel) {
            if (((Channel) channel).parent() instanceof ServerChannel) {
                ServerProbes.connectionClose(channel);
            }
        }
    }

    /** {@code DefaultChannelPipeline.fireChannelRead(message)}: what was read goes through the pipeline; of a stream perhaps when it is asked for. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("channel") Object channel) {
            Channel parent = ((Channel) channel).parent();
            if (parent instanceof ServerChannel) {
                return ServerProbes.loopVisitBegin(channel);
            }
            if (parent == null || !(parent.parent() instanceof ServerChannel) || !(channel instanceof Http2StreamChannel)) {
                return 0;
            }
            Http2ConnectionHandler codec = parent.pipeline().get(Http2ConnectionHandler.class);
            return codec == null ? 0 : StreamProbes.visitBegin(codec.connection(), ((Http2StreamChannel) channel).stream().id());
        }
    }

    /** {@code SslHandler.decode(context, in, out)}, of servers. */
    static final class Handshake {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.FieldValue("engine") SSLEngine engine, @Advice.FieldValue("handshakePromise") Object handshake) {
            if (!engine.getUseClientMode() && !((Future<?>) handshake).isDone()) {
                ServerProbes.engineShakesHands(engine);
            }
        }
    }

    /** {@code SslHandler.setHandshakeSuccess()}. Which kind it was its certificate, or the engine, has told. */
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

    /** {@code DefaultHttp2ConnectionDecoder.FrameReadListener.onHeadersRead(context, stream, headers, …)}. */
    static final class StreamHeaders {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(
                @Advice.FieldValue("this$0") Object decoder,
                @Advice.Argument(0) Object context,
                @Advice.Argument(1) int stream,
                @Advice.Argument(2) Object headers) {
            Http2Connection connection = ((Http2ConnectionDecoder) decoder).connection();
            if (!connection.isServer() || !StreamProbes.areHeardHere(((ChannelHandlerContext) context).handler())) {
                return 0;
            }
            Http2Headers read = (Http2Headers) headers;
            return StreamProbes.headersRead(connection, stream,
                    ((ChannelHandlerContext) context).channel().remoteAddress(), read.method(), read.path());
        }
    }

    /** Its {@code onDataRead(context, stream, …)}. */
    static final class StreamData {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(
                @Advice.FieldValue("this$0") Object decoder, @Advice.Argument(0) Object context, @Advice.Argument(1) int stream) {
            Http2Connection connection = ((Http2ConnectionDecoder) decoder).connection();
            return connection.isServer() && StreamProbes.areHeardHere(((ChannelHandlerContext) context).handler())
                    ? StreamProbes.visitBegin(connection, stream)
                    : 0;
        }
    }

    /** {@code InboundHttpToHttp2Adapter.handle(context, connection, listener, message)}: a request that asked for HTTP/2 is its first stream. */
    static final class Upgraded {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(
                @Advice.Argument(0) Object context, @Advice.Argument(1) Object connection, @Advice.Argument(3) Object message) {
            if (!((Http2Connection) connection).isServer() || !(message instanceof HttpRequest)) {
                return 0;
            }
            HttpRequest request = (HttpRequest) message;
            return StreamProbes.headersRead(connection, request.headers().getInt("x-http2-stream-id", 1),
                    ((ChannelHandlerContext) context).channel().remoteAddress(), request.method().name(), request.uri());
        }
    }

    /** {@code DefaultHttp2ConnectionEncoder.writeHeaders0(context, stream, headers, …, ends, promise)}: behind what waits for the client they wait, too. */
    static final class StreamAnswer {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object self,
                @Advice.Argument(0) Object context,
                @Advice.Argument(1) int number,
                @Advice.Argument(2) Object headers,
                @Advice.Argument(8) boolean ends) {
            Http2ConnectionEncoder encoder = (Http2ConnectionEncoder) self;
            Http2Connection connection = encoder.connection();
            if (connection.isServer() && StreamProbes.areHeardHere(((ChannelHandlerContext) context).handler())) {
                Http2Headers written = (Http2Headers) headers;
                Http2Stream stream = connection.stream(number);
                boolean wait = stream != null && encoder.flowController().hasFlowControlled(stream);
                StreamProbes.headersWritten(connection, number, written.status(), written.get("grpc-status"), ends && !wait);
            }
        }
    }

    /** {@code DefaultHttp2ConnectionEncoder.FlowControlledBase.writeComplete()}: the client has let all of it go. */
    static final class StreamAnswered {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.FieldValue("this$0") Object encoder, @Advice.FieldValue("stream") Object stream, @Advice.FieldValue("endOfStream") boolean ends) {
            Http2Connection connection = ((Http2ConnectionEncoder) encoder).connection();
            if (ends && connection.isServer()) {
                StreamProbes.answered(connection, ((Http2Stream) stream).id());
            }
        }
    }

    /** {@code DefaultHttp2Connection.notifyClosed(stream)}. */
    static final class StreamClose {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object connection, @Advice.Argument(0) Object stream) {
            if (((Http2Connection) connection).isServer()) {
                StreamProbes.closed(connection, ((Http2Stream) stream).id());
            }
        }
    }
}
