package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.CombinedChannelDuplexHandler;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DecoratingHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameWriter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2LifecycleManager;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2ServerUpgradeCodec;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.AsciiString;
import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManagerFactory;
import kotlin.Unit;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.GlobalScope;
import org.jboss.resteasy.reactive.common.core.AbstractResteasyReactiveContext;
import org.jboss.resteasy.reactive.spi.RestHandler;
import org.jboss.resteasy.reactive.spi.ThreadSetupAction;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Netty with HTTPS on a free port, HTTP/2 for those who want it. System properties: web.tls, web.keystore. Told {@code handlers}, it
 * says what its pipelines have; {@code first-bytes} starts one without TLS that looks at a client's first bytes before it has a codec,
 * {@code streams} one whose streams of HTTP/2 have no channels, {@code held} one whose handlers hear of a channel late.
 */
public final class NettyWeb extends Program {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final int LONGEST = 1 << 16;
    private static final int BIG = 1_000_000;

    public static void main(String[] arguments) throws Exception {
        new NettyWeb().serve();
    }

    private final Set<Channel> open = ConcurrentHashMap.newKeySet();

    @Override
    protected String handle(String command) throws Exception {
        if (command.equals("handlers")) {
            open.removeIf(channel -> !channel.isOpen());
            return open.stream().map(channel -> channel.pipeline().names() + inCodec(channel)).sorted().collect(Collectors.joining());
        }
        if (command.equals("first-bytes")) {
            return start(channel -> channel.pipeline().addLast(new FirstBytes()));
        }
        if (command.equals("combined")) {
            return start(channel -> channel.pipeline().addLast(new CombinedChannelDuplexHandler<>(new HttpRequestDecoder(), new HttpResponseEncoder()),
                    new HttpObjectAggregator(LONGEST), new Pages()));
        }
        if (command.equals("cleartext")) {
            return start(NettyWeb::beginInEither);
        }
        if (!Set.of("start", "asked", "streams", "own-encoder", "held", "openssl").contains(command)) {
            throw new IllegalArgumentException(command);
        }
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream file = new FileInputStream(System.getProperty("web.keystore"))) {
            keys.load(file, PASSWORD);
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SslContext tls = SslContextBuilder.forServer(managers).sslProvider(command.equals("openssl") ? SslProvider.OPENSSL : SslProvider.JDK)
                .protocols(System.getProperty("web.tls", "TLSv1.3"))
                .applicationProtocolConfig(new ApplicationProtocolConfig(ApplicationProtocolConfig.Protocol.ALPN,
                        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1))
                .build();
        if (command.equals("held")) {
            return start(channel -> channel.pipeline().addLast(new Negotiated("start")).addFirst(tls.newHandler(channel.alloc()), new UntilShaken()));
        }
        return start(channel -> channel.pipeline().addLast(tls.newHandler(channel.alloc()), new Negotiated(command)));
    }

    /** Who listens to a codec of HTTP/2 and who writes for it. */
    private static String inCodec(Channel channel) {
        Http2ConnectionHandler codec = channel.pipeline().get(Http2ConnectionHandler.class);
        return codec == null ? "" : codec.decoder().frameListener().getClass() + " " + codec.encoder().frameWriter().getClass();
    }

    private String start(Consumer<SocketChannel> initializer) throws Exception {
        Class.forName(HttpRequestDecoder.class.getName()); // as in servers, which know before the first connection what they speak
        Channel server = new ServerBootstrap()
                .group(new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory()))
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        open.add(channel);
                        initializer.accept(channel);
                    }
                })
                .bind("127.0.0.1", 0).sync().channel();
        open.add(server);
        return Integer.toString(((InetSocketAddress) server.localAddress()).getPort());
    }

    /** As servers do that let a client begin in either protocol: the codec is there once it is known which. */
    private static final class FirstBytes extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object read) {
            context.pipeline().addLast(new HttpRequestDecoder(), new HttpResponseEncoder(), new HttpObjectAggregator(LONGEST), new Pages());
            context.fireChannelRead(read);
            context.pipeline().remove(this);
        }
    }

    /** As in Reactor Netty: what is behind hears of the channel when its handshake is over. */
    private static final class UntilShaken extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.read();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent) {
                context.fireChannelActive();
            }
            context.fireUserEventTriggered(event);
        }
    }

    private static final class Negotiated extends ApplicationProtocolNegotiationHandler {
        private final String codec;

        /** @param codec "start": one whose streams have channels; "asked": which are read when they are asked for */
        Negotiated(String codec) {
            super(ApplicationProtocolNames.HTTP_1_1);
            this.codec = codec;
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext context, String protocol) {
            if (!protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                context.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(LONGEST), new Pages());
                return;
            }
            if (codec.equals("streams") || codec.equals("own-encoder")) {
                context.pipeline().addLast(new Answers(codec.equals("own-encoder")).build());
                return;
            }
            context.pipeline().addLast(Http2FrameCodecBuilder.forServer().build(), streams(codec.equals("start")));
        }
    }

    /** Gives each a channel. */
    private static Http2MultiplexHandler streams(boolean readAtOnce) {
        return new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel stream) {
                if (!readAtOnce) {
                    stream.config().setAutoRead(false);
                    stream.eventLoop().schedule(stream::read, 20, TimeUnit.MILLISECONDS);
                }
                stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true), new HttpObjectAggregator(LONGEST), new Pages());
            }
        });
    }

    /** A request may ask for HTTP/2. */
    private static void beginInEither(Channel channel) {
        HttpServerCodec codec = new HttpServerCodec();
        channel.pipeline().addLast(codec, new HttpServerUpgradeHandler(codec, protocol ->
                AsciiString.contentEquals(Http2CodecUtil.HTTP_UPGRADE_PROTOCOL_NAME, protocol)
                        ? new Http2ServerUpgradeCodec(Http2FrameCodecBuilder.forServer().build(), streams(true)) : null),
                new HttpObjectAggregator(LONGEST), new Pages());
    }

    /** As in Vert.x and Armeria: the codec tells of streams by their numbers. */
    private static final class Answers extends AbstractHttp2ConnectionHandlerBuilder<Http2ConnectionHandler, Answers> {
        private final boolean ownEncoder;

        Answers(boolean ownEncoder) {
            this.ownEncoder = ownEncoder;
        }

        @Override
        public Http2ConnectionHandler build() {
            return super.build();
        }

        @Override
        protected Http2ConnectionHandler build(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            Http2FrameListener answers = new Http2FrameAdapter() {
                @Override
                public void onHeadersRead(ChannelHandlerContext context, int stream, Http2Headers headers, int dependency, short weight,
                        boolean exclusive, int padding, boolean ends) {
                    answer(context, encoder, stream, headers.path().toString().replaceAll("[?].*", ""));
                    context.flush();
                }
            };
            // As Vert.x does, which has another listener once it has read the client's settings, before its first request.
            frameListener(new Http2FrameAdapter() {
                @Override
                public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings) {
                    decoder.frameListener(answers);
                }
            });
            return new Http2ConnectionHandler(decoder, ownEncoder ? new OwnEncoder(encoder) : encoder, settings) { };
        }

        private static void answer(ChannelHandlerContext context, Http2ConnectionEncoder encoder, int stream, String path) {
            switch (path) {
                case "/hello":
                    head(context, encoder, stream, "200", true);
                    break;
                case "/parts":
                    head(context, encoder, stream, "200", false);
                    encoder.writeData(context, stream, Pages.bytes("par"), 0, false, context.newPromise());
                    encoder.writeData(context, stream, Pages.bytes("ts"), 0, true, context.newPromise());
                    break;
                case "/later":
                    new Thread(() -> {
                        Pages.pause(50);
                        context.executor().execute(() -> {
                            head(context, encoder, stream, "202", true);
                            context.flush();
                        });
                    }, "later").start();
                    break;
                case "/big":
                    head(context, encoder, stream, "200", false);
                    encoder.writeData(context, stream, Unpooled.wrappedBuffer(new byte[BIG]), 0, true, context.newPromise());
                    break;
                case "/call":
                    head(context, encoder, stream, "200", false);
                    encoder.writeHeaders(context, stream, new DefaultHttp2Headers().set("grpc-status", "5"), 0, true, context.newPromise());
                    break;
                case "/never":
                    encoder.writeRstStream(context, stream, 0, context.newPromise());
                    break;
                default:
                    head(context, encoder, stream, "404", true);
            }
        }

        private static void head(ChannelHandlerContext context, Http2ConnectionEncoder encoder, int stream, String status, boolean ends) {
            encoder.writeHeaders(context, stream, new DefaultHttp2Headers().status(status), 0, ends, context.newPromise());
        }
    }

    /** Which is none of Netty's. */
    private static final class OwnEncoder extends DecoratingHttp2FrameWriter implements Http2ConnectionEncoder {
        private final Http2ConnectionEncoder encoder;

        OwnEncoder(Http2ConnectionEncoder encoder) {
            super(encoder);
            this.encoder = encoder;
        }

        @Override
        public void lifecycleManager(Http2LifecycleManager manager) {
            encoder.lifecycleManager(manager);
        }

        @Override
        public Http2Connection connection() {
            return encoder.connection();
        }

        @Override
        public Http2RemoteFlowController flowController() {
            return encoder.flowController();
        }

        @Override
        public Http2FrameWriter frameWriter() {
            return encoder.frameWriter();
        }

        @Override
        public Http2Settings pollSentSettings() {
            return encoder.pollSentSettings();
        }

        @Override
        public void remoteSettings(Http2Settings settings) throws Http2Exception {
            encoder.remoteSettings(settings);
        }
    }

    /** A request of Quarkus' REST whose method blocks: it begins on the event loop and goes on in a pool. */
    private static final class Blocking extends AbstractResteasyReactiveContext<Blocking, RestHandler<Blocking>> {
        private static final ExecutorService POOL = Executors.newFixedThreadPool(1);

        @SuppressWarnings("unchecked")
        Blocking(Runnable answer) {
            super(new RestHandler[] {
                (RestHandler<Blocking>) Blocking::leaveEventLoop,
                (RestHandler<Blocking>) request -> {
                    Thread.sleep(20);
                    answer.run();
                    Thread.sleep(20); // the event loop ends the request meanwhile
                }
            }, new RestHandler[0], ThreadSetupAction.NOOP);
        }

        private void leaveEventLoop() {
            suspend();
            resume(POOL);
        }

        @Override
        protected Executor getEventLoop() {
            return POOL;
        }

        @Override
        protected void handleRequestScopeActivation() {}

        @Override
        protected void restarted(boolean keepTarget) {}

        @Override
        protected void handleUnrecoverableError(Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static final class Pages extends SimpleChannelInboundHandler<FullHttpRequest> {
        private static final ExecutorService POOL = Executors.newFixedThreadPool(1);
        private static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(1);

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            switch (request.uri().replaceAll("[?].*", "")) {
                case "/hello":
                    context.writeAndFlush(page(HttpResponseStatus.OK, "hello"));
                    break;
                case "/big":
                    context.writeAndFlush(page(HttpResponseStatus.OK, "b".repeat(BIG)));
                    break;
                case "/parts":
                    HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
                    head.headers().set("content-length", 5);
                    context.write(head);
                    context.write(new DefaultHttpContent(bytes("parts")));
                    context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
                    break;
                case "/later":
                    new Thread(() -> {
                        pause(50);
                        context.writeAndFlush(page(HttpResponseStatus.ACCEPTED, "later"));
                    }, "later").start();
                    break;
                case "/quarkus":
                    new Blocking(() -> context.writeAndFlush(page(HttpResponseStatus.OK, "quark"))).run();
                    break;
                case "/executed":
                    POOL.execute(() -> work(context));
                    break;
                case "/submitted":
                    POOL.submit(() -> work(context));
                    break;
                case "/threaded":
                    new Thread(new FutureTask<>(() -> work(context), null)).start();
                    break;
                case "/coroutine":
                    BuildersKt.launch(GlobalScope.INSTANCE, Dispatchers.getIO(), CoroutineStart.DEFAULT, (scope, then) -> {
                        work(context);
                        return Unit.INSTANCE;
                    });
                    break;
                case "/scheduled":
                    TIMER.execute(() -> work(context));
                    break;
                case "/completed":
                    CompletableFuture.runAsync(() -> work(context)); // in the common pool
                    break;
                case "/virtual":
                    virtual().execute(() -> work(context));
                    break;
                case "/timed":
                    TIMER.schedule(() -> work(context), 50, TimeUnit.MILLISECONDS);
                    break;
                case "/again":
                    Runnable again = new Again(context);
                    POOL.execute(again);
                    POOL.execute(again);
                    break;
                case "/reactor":
                    Mono.fromCallable(() -> {
                        Thread.sleep(20);
                        context.writeAndFlush(page(HttpResponseStatus.OK, "react"));
                        Thread.sleep(20); // the event loop ends the request meanwhile
                        return 1;
                    }).subscribeOn(Schedulers.boundedElastic()).subscribe();
                    break;
                default:
                    context.writeAndFlush(page(HttpResponseStatus.NOT_FOUND, ""));
            }
        }

        /** Answers; the event loop ends the request before it is done. */
        private static void work(ChannelHandlerContext context) {
            pause(20);
            context.writeAndFlush(page(HttpResponseStatus.OK, "work"));
            pause(20);
        }

        static void pause(long millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Executors.newVirtualThreadPerTaskExecutor(), which is not in 17. */
        private static ExecutorService virtual() {
            try {
                return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Answers when it is run for the second time. */
        private static final class Again implements Runnable {
            private final ChannelHandlerContext context;
            private int runs;

            Again(ChannelHandlerContext context) {
                this.context = context;
            }

            @Override
            public void run() {
                if (++runs == 2) {
                    work(context);
                }
            }
        }

        private static FullHttpResponse page(HttpResponseStatus status, String text) {
            FullHttpResponse page = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, bytes(text));
            page.headers().set("content-length", text.length());
            return page;
        }

        static ByteBuf bytes(String text) {
            return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
        }
    }
}
