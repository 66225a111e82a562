package dev.loadline.agent.hooks.netty;

import dev.loadline.agent.boot.ServerProbes;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;

/** Next behind a codec of HTTP/1.1: tells of the requests that it read, and of the responses that it is to write. */
final class Messages extends ChannelDuplexHandler {
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
    static boolean into(ChannelPipeline pipeline) {
        if (areIn(pipeline)) {
            return true;
        }
        ChannelHandlerContext codec = pipeline.context(HttpServerCodec.class);
        if (codec == null) {
            ChannelHandlerContext decoder = pipeline.context(HttpRequestDecoder.class);
            ChannelHandlerContext encoder = pipeline.context(HttpResponseEncoder.class);
            if (decoder == null || encoder == null) {
                return false;
            }
            boolean decodesFirst = pipeline.names().indexOf(decoder.name()) < pipeline.names().indexOf(encoder.name());
            codec = decodesFirst ? encoder : decoder;
        }
        pipeline.addAfter(codec.name(), null, new Messages());
        return true;
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
