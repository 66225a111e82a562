package dev.loadline.agent.hooks.netty;

import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.hooks.Fields;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.CombinedChannelDuplexHandler;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;

/** Next behind a codec of HTTP/1.1: tells of the requests that it read, and of the responses that it is to write. */
final class Messages extends ChannelDuplexHandler {
    private final ChannelHandlerContext codec;

    private Messages(ChannelHandlerContext codec) {
        this.codec = codec;
    }

    /** Fails where there is no HTTP, or no TLS, beside Netty. */
    static void load() {
        SslHandler.class.getName();
        LastHttpContent.class.getName();
    }

    static boolean areIn(ChannelPipeline pipeline) {
        return pipeline.context(Messages.class) != null;
    }

    static void tell(HttpRequest request) {
        ServerProbes.request(request.method().name(), request.uri());
    }

    /** Puts one behind the codec, unless there is one; false if there is no codec. */
    static boolean into(ChannelPipeline pipeline, NettyLoop loop) {
        if (areIn(pipeline)) {
            return true;
        }
        ChannelHandlerContext codec = codec(pipeline, loop);
        if (codec == null) {
            return false;
        }
        pipeline.addAfter(codec.name(), null, new Messages(codec));
        return true;
    }

    /** Netty's own, or a decoder and an encoder, of which that which stands behind; or, as Armeria has it, what somebody made of both. Else null. */
    private static ChannelHandlerContext codec(ChannelPipeline pipeline, NettyLoop loop) {
        ChannelHandlerContext codec = pipeline.context(HttpServerCodec.class);
        if (codec != null) {
            return codec;
        }
        ChannelHandlerContext decoder = pipeline.context(HttpRequestDecoder.class);
        ChannelHandlerContext encoder = pipeline.context(HttpResponseEncoder.class);
        if (decoder != null && encoder != null) {
            return pipeline.names().indexOf(decoder.name()) < pipeline.names().indexOf(encoder.name()) ? encoder : decoder;
        }
        CombinedChannelDuplexHandler<?, ?> combined = pipeline.get(CombinedChannelDuplexHandler.class);
        return combined != null && isMadeOfThem(combined, loop) ? pipeline.context(combined) : null;
    }

    private static boolean isMadeOfThem(CombinedChannelDuplexHandler<?, ?> combined, NettyLoop loop) {
        Class<?> type = CombinedChannelDuplexHandler.class;
        try {
            loop.open(type);
            return Fields.of(type, "inboundHandler").get(combined) instanceof HttpRequestDecoder
                    && Fields.of(type, "outboundHandler").get(combined) instanceof HttpResponseEncoder;
        } catch (ReflectiveOperationException | RuntimeException otherVersion) {
            return false;
        }
    }

    /** Leaves if the codec has: its connection goes on with another protocol. @return whether that is so */
    boolean follows(ChannelPipeline pipeline) {
        if (codec.isRemoved() && pipeline.context(this) != null) {
            pipeline.remove(this);
        }
        return codec.isRemoved();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest) {
            tell((HttpRequest) message);
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        int status = message instanceof HttpResponse ? ((HttpResponse) message).status().code() : 0;
        ServerProbes.answersInPart(context.channel(), status, message instanceof LastHttpContent);
        context.write(message, promise);
    }
}
