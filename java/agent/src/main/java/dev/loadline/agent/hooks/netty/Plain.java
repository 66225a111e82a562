package dev.loadline.agent.hooks.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Behind TLS until the first of the client's bytes: by then the protocol is known, and they may have come with the end of the handshake. */
final class Plain extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
        RecordedChannel.hears(context.pipeline());
        context.pipeline().remove(this);
        context.fireChannelRead(read);
    }
}
