package dev.loadline.agent.hooks.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** In a server's channel, which reads those that it accepts. */
final class Accepts extends ChannelInboundHandlerAdapter {
    private final NettyLoop loop;

    Accepts(NettyLoop loop) {
        this.loop = loop;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object accepted) {
        if (accepted instanceof Channel) {
            ((Channel) accepted).pipeline().addFirst(new RecordedChannel(loop));
        }
        context.fireChannelRead(accepted);
    }
}
