package dev.loadline.agent.hooks.netty;

import dev.loadline.agent.boot.ServerProbes;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.ssl.SslHandler;

/** First in the pipeline of a channel that was accepted: tells when it opens and closes, of its handshake, and of visits to it. */
final class RecordedChannel extends ChannelInboundHandlerAdapter {
    /** Reads in which a codec of HTTP is looked for: what has none by then speaks something else. */
    private static final int MOST_LOOKS = 64;
    /** Netty's parts come in jars of their own. */
    static final boolean HTTP_2 = isBeside(HttpObject.class.getPackageName() + "2.Http2FrameCodec");

    private final NettyLoop loop;
    private final long openedMillis = System.currentTimeMillis();
    private SslHandler tls;
    private boolean handshakeDone;
    /** Behind its codec; or nobody waits for one any more. */
    private boolean isHeard;
    private int looks;
    /** Null where it is no codec of HTTP/1.1. */
    private Messages messages;

    RecordedChannel(NettyLoop loop) {
        this.loop = loop;
    }

    /** What comes before it may keep to itself that the channel is active, as Reactor Netty does until the handshake is over. */
    @Override
    public void channelRegistered(ChannelHandlerContext context) {
        beFirst(context);
        context.fireChannelRegistered();
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        ServerProbes.connectionOpen(context.channel(), context.channel().remoteAddress());
        beFirst(context);
        context.fireChannelActive();
    }

    /** If what initialized the channel has put something before, another takes over, in front of that. */
    private void beFirst(ChannelHandlerContext context) {
        ChannelPipeline pipeline = context.pipeline();
        if (pipeline.firstContext() != context) {
            pipeline.addFirst(new RecordedChannel(loop));
            pipeline.remove(this);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        ServerProbes.connectionClose(context.channel());
        context.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
        long visit = ServerProbes.loopVisitBegin(context.channel());
        try {
            if (!handshakeDone) {
                handshake(context.pipeline());
            }
            if (messages != null && messages.follows(context.pipeline())) {
                isHeard = false;
                looks = 0;
            }
            if (!isHeard) {
                look(context.pipeline());
                messages = context.pipeline().get(Messages.class);
            }
            context.fireChannelRead(read);
        } finally {
            ServerProbes.visitEnd(visit);
        }
    }

    private void look(ChannelPipeline pipeline) {
        isHeard = hears(pipeline, loop) || ++looks == MOST_LOOKS;
        if (isHeard) {
            UntilHttp.outOf(pipeline);
        } else if (looks == 1) {
            UntilHttp.behindAll(pipeline, loop);
        }
    }

    /** Whether there is a codec of HTTP in a pipeline: if so, what is told of is heard behind it. */
    static boolean hears(ChannelPipeline pipeline, NettyLoop loop) {
        return Messages.into(pipeline, loop) || HTTP_2 && (Streams.into(pipeline) || NumberedStreams.into(pipeline, loop));
    }

    private static boolean isBeside(String className) {
        try {
            Class.forName(className, false, RecordedChannel.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException without) {
            return false;
        }
    }

    private void handshake(ChannelPipeline pipeline) {
        if (tls == null) {
            tls = pipeline.get(SslHandler.class);
            if (tls == null) {
                handshakeDone = isHeard; // without TLS
                return;
            }
            tls.handshakeFuture().addListener(handshake -> {
                handshakeDone = true;
                ServerProbes.engineIsDone(handshake.isSuccess(), tls.engine().getSession(), openedMillis);
            });
        }
        if (!handshakeDone) {
            ServerProbes.engineShakesHands(tls.engine());
        }
    }
}
