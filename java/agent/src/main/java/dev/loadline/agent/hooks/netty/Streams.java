package dev.loadline.agent.hooks.netty;

import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.boot.StreamProbes;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamFrame;

/** Next behind a codec of HTTP/2's frames: tells of each stream as a connection of its own, with its request and the response. */
final class Streams extends ChannelDuplexHandler {
    /** Puts one behind the codec, unless there is one; false if there is no codec. */
    static boolean into(ChannelPipeline pipeline) {
        if (pipeline.context(Streams.class) != null) {
            return true;
        }
        ChannelHandlerContext codec = pipeline.context(Http2FrameCodec.class);
        if (codec == null) {
            return false;
        }
        pipeline.addAfter(codec.name(), null, new Streams());
        return true;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object frame) {
        if (!(frame instanceof Http2StreamFrame)) {
            context.fireChannelRead(frame);
            return;
        }
        Object stream = ((Http2StreamFrame) frame).stream();
        Http2Headers asked = frame instanceof Http2HeadersFrame ? ((Http2HeadersFrame) frame).headers() : null;
        boolean begins = asked != null && asked.method() != null; // not what comes behind a body
        if (begins) {
            ServerProbes.streamOpen(stream, context.channel().remoteAddress());
        }
        long visit = ServerProbes.loopVisitBegin(stream);
        try {
            if (begins) {
                ServerProbes.request(asked.method().toString(), String.valueOf(asked.path()));
            }
            context.fireChannelRead(frame);
        } finally {
            ServerProbes.visitEnd(visit);
        }
        if (frame instanceof Http2ResetFrame) {
            ServerProbes.connectionClose(stream);
        }
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        Object ends = null;
        if (message instanceof Http2HeadersFrame) {
            Http2HeadersFrame frame = (Http2HeadersFrame) message;
            CharSequence grpcCode = frame.isEndStream() ? NumberedStreams.grpcCode(frame.headers()) : null;
            ServerProbes.answersInPart(frame.stream(), StreamProbes.status(frame.headers().status(), grpcCode), false);
            ends = frame.isEndStream() ? frame.stream() : null;
        } else if (message instanceof Http2DataFrame) {
            ends = ((Http2DataFrame) message).isEndStream() ? ((Http2DataFrame) message).stream() : null;
        } else if (message instanceof Http2ResetFrame) {
            ServerProbes.connectionClose(((Http2ResetFrame) message).stream());
        }
        Object ended = ends;
        context.write(message, ended == null ? promise : promise.unvoid().addListener(out -> { // when the client has let all of it go
            ServerProbes.answersInPart(ended, 0, true);
            ServerProbes.connectionClose(ended);
        }));
    }
}
