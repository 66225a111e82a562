package dev.loadline.agent.hooks.netty;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Map;

/**
 * Behind each handler of a pipeline that has no codec of HTTP yet: one of them adds it when it has seen the first bytes, or when TLS has
 * agreed on a protocol, and passes on what it has read at once. They all leave when there is a codec.
 */
final class UntilHttp extends ChannelInboundHandlerAdapter {
    private final NettyLoop loop;

    private UntilHttp(NettyLoop loop) {
        this.loop = loop;
    }

    static void behindAll(ChannelPipeline pipeline, NettyLoop loop) {
        for (Map.Entry<String, ChannelHandler> entry : pipeline.toMap().entrySet()) {
            if (!(entry.getValue() instanceof RecordedChannel)) {
                pipeline.addAfter(entry.getKey(), null, new UntilHttp(loop));
            }
        }
    }

    static void outOf(ChannelPipeline pipeline) {
        for (ChannelHandler handler : pipeline.toMap().values()) {
            if (handler instanceof UntilHttp) {
                pipeline.remove(handler);
            }
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
        // What a codec has made of the bytes that brought it here is behind where its requests are heard.
        boolean missed = read instanceof HttpRequest && !Messages.areIn(context.pipeline());
        if (RecordedChannel.hears(context.pipeline(), loop)) {
            if (missed) {
                Messages.tell((HttpRequest) read);
            }
            outOf(context.pipeline());
        }
        context.fireChannelRead(read);
    }
}
