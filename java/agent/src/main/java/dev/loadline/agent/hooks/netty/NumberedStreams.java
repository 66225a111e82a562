package dev.loadline.agent.hooks.netty;

import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.boot.StreamProbes;
import dev.loadline.agent.hooks.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DecoratingHttp2ConnectionEncoder;
import io.netty.handler.codec.http2.DecoratingHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2FrameWriter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import java.util.Map;

/**
 * In a codec of HTTP/2 that makes no frames of what it reads, but tells its owner of streams by their numbers: Vert.x', Armeria's and
 * gRPC's. It listens before the owner does, and writes before the network does.
 */
final class NumberedStreams extends Http2ConnectionAdapter {
    private static final String WRITER = "frameWriter";

    private final Http2Connection connection;
    private final Http2ConnectionDecoder decoder;
    private final Http2ConnectionEncoder encoder;
    private final Writer writer;

    private NumberedStreams(Http2ConnectionHandler codec, Http2ConnectionEncoder encoder) {
        connection = codec.connection();
        decoder = codec.decoder();
        this.encoder = encoder;
        writer = new Writer(encoder.frameWriter());
    }

    /** Puts one into the codec of a pipeline, unless there is one; false if there is no codec. The loop is told if it cannot. */
    static boolean into(ChannelPipeline pipeline, NettyLoop loop) {
        Http2ConnectionHandler codec = pipeline.get(Http2ConnectionHandler.class);
        if (codec == null) {
            return false;
        }
        try {
            if (!(codec.decoder().frameListener() instanceof Listener) && !into(codec, loop)) {
                loop.cannotHearStreams();
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError otherVersion) {
            loop.cannotHearStreams();
        }
        return true;
    }

    private static boolean into(Http2ConnectionHandler codec, NettyLoop loop) throws ReflectiveOperationException {
        Http2ConnectionEncoder encoder = innermost(codec, loop);
        if (!(encoder instanceof DefaultHttp2ConnectionEncoder) || codec.decoder().frameListener() == null) {
            return false;
        }
        loop.open(DefaultHttp2ConnectionEncoder.class);
        if (encoder.frameWriter() instanceof Writer) {
            ((Writer) encoder.frameWriter()).streams().listen();
        } else {
            new NumberedStreams(codec, encoder).put();
        }
        return true;
    }

    /** Takes it out of a handler that has one. */
    static void outOf(ChannelHandler handler, NettyLoop loop) throws ReflectiveOperationException {
        if (!(handler instanceof Http2ConnectionHandler)) {
            return;
        }
        Http2FrameWriter writer;
        try {
            writer = innermost((Http2ConnectionHandler) handler, loop).frameWriter();
        } catch (ReflectiveOperationException | RuntimeException otherVersion) {
            return; // nor could one be put there
        }
        if (writer instanceof Writer) {
            ((Writer) writer).streams().remove();
        }
    }

    private static Http2ConnectionEncoder innermost(Http2ConnectionHandler codec, NettyLoop loop) throws ReflectiveOperationException {
        Http2ConnectionEncoder encoder = codec.encoder();
        while (encoder instanceof DecoratingHttp2ConnectionEncoder) {
            loop.open(DecoratingHttp2ConnectionEncoder.class);
            encoder = (Http2ConnectionEncoder) Fields.of(DecoratingHttp2ConnectionEncoder.class, "delegate").get(encoder);
        }
        return encoder;
    }

    /** How a call of gRPC's ended, as the last headers of a response say; null if it was none. Its headers can be read in their order alone. */
    static CharSequence grpcCode(Http2Headers last) {
        for (Map.Entry<CharSequence, CharSequence> header : last) {
            if (AsciiString.contentEquals(header.getKey(), "grpc-status")) {
                return header.getValue();
            }
        }
        return null;
    }

    private void put() throws ReflectiveOperationException {
        Fields.replace(encoder, WRITER, encoder.frameWriter(), writer);
        listen();
        connection.addListener(this);
    }

    private void listen() {
        decoder.frameListener(new Listener(decoder.frameListener()));
    }

    private void remove() throws ReflectiveOperationException {
        connection.removeListener(this);
        Http2FrameListener listens = decoder.frameListener();
        if (listens instanceof Listener) {
            decoder.frameListener(((Listener) listens).owner());
        }
        Fields.replace(encoder, WRITER, writer, writer.network);
    }

    @Override
    public void onStreamClosed(Http2Stream stream) {
        StreamProbes.closed(connection, stream.id());
    }

    private final class Listener extends Http2FrameListenerDecorator {
        Listener(Http2FrameListener owner) {
            super(owner);
        }

        Http2FrameListener owner() {
            return listener;
        }

        /** Vert.x puts another in its place then, before the first request is read. */
        @Override
        public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings) throws Http2Exception {
            super.onSettingsRead(context, settings);
            if (!(decoder.frameListener() instanceof Listener)) {
                listen();
            }
        }

        @Override
        public void onHeadersRead(ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean ends) throws Http2Exception {
            long visit = read(context, stream, headers);
            try {
                super.onHeadersRead(context, stream, headers, padding, ends);
            } finally {
                ServerProbes.visitEnd(visit);
            }
        }

        @Override
        public void onHeadersRead(ChannelHandlerContext context, int stream, Http2Headers headers, int dependency, short weight,
                boolean exclusive, int padding, boolean ends) throws Http2Exception {
            long visit = read(context, stream, headers);
            try {
                super.onHeadersRead(context, stream, headers, dependency, weight, exclusive, padding, ends);
            } finally {
                ServerProbes.visitEnd(visit);
            }
        }

        private long read(ChannelHandlerContext context, int stream, Http2Headers headers) {
            return StreamProbes.headersRead(connection, stream, context.channel().remoteAddress(), headers.method(), headers.path());
        }

        @Override
        public int onDataRead(ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean ends) throws Http2Exception {
            long visit = StreamProbes.visitBegin(connection, stream);
            try {
                return super.onDataRead(context, stream, data, padding, ends);
            } finally {
                ServerProbes.visitEnd(visit);
            }
        }
    }

    private final class Writer extends DecoratingHttp2FrameWriter {
        private final Http2FrameWriter network;

        Writer(Http2FrameWriter network) {
            super(network);
            this.network = network;
        }

        NumberedStreams streams() {
            return NumberedStreams.this;
        }

        @Override
        public ChannelFuture writeHeaders(ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean ends,
                ChannelPromise promise) {
            written(stream, headers, ends);
            return super.writeHeaders(context, stream, headers, padding, ends, promise);
        }

        @Override
        public ChannelFuture writeHeaders(ChannelHandlerContext context, int stream, Http2Headers headers, int dependency, short weight,
                boolean exclusive, int padding, boolean ends, ChannelPromise promise) {
            written(stream, headers, ends);
            return super.writeHeaders(context, stream, headers, dependency, weight, exclusive, padding, ends, promise);
        }

        private void written(int stream, Http2Headers headers, boolean ends) {
            StreamProbes.headersWritten(connection, stream, headers.status(), ends ? grpcCode(headers) : null, ends);
        }

        @Override
        public ChannelFuture writeData(ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean ends,
                ChannelPromise promise) {
            if (ends) {
                StreamProbes.answered(connection, stream);
            }
            return super.writeData(context, stream, data, padding, ends, promise);
        }
    }
}
