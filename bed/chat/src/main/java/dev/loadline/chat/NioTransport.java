package dev.loadline.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/** All links on a few event loops, given out in turn; the first loop accepts. */
final class NioTransport implements Transport {
    private final List<EventLoop> loops = new ArrayList<>();
    private final SSLContext tls;
    private final AtomicInteger next = new AtomicInteger();

    NioTransport(int loops, SSLContext tls, String name) throws IOException {
        this.tls = tls;
        for (int i = 1; i <= loops; i++) {
            this.loops.add(new EventLoop(name + "-loop-" + i));
        }
        this.loops.forEach(EventLoop::start);
    }

    @Override
    public int listen(int port, Supplier<Link.Handler> handlers) throws IOException {
        var server = ServerSocketChannel.open();
        server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
        server.configureBlocking(false);
        loops.get(0).accept(server, channel -> start(channel, handlers.get(), engine(false, null)));
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    @Override
    public Link connect(InetSocketAddress to, Link.Handler handler) throws IOException {
        return start(SocketChannel.open(to), handler, engine(true, to));
    }

    private Link start(SocketChannel channel, Link.Handler handler, SSLEngine engine) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        EventLoop loop = loops.get(Math.floorMod(next.getAndIncrement(), loops.size()));
        var link = new NioLink(loop, channel, handler, engine == null ? new PlainCodec() : new TlsCodec(engine));
        loop.add(link);
        return link;
    }

    private SSLEngine engine(boolean client, InetSocketAddress to) {
        if (tls == null) {
            return null;
        }
        SSLEngine engine = client ? tls.createSSLEngine(to.getHostString(), to.getPort()) : tls.createSSLEngine();
        engine.setUseClientMode(client);
        return engine;
    }

    @Override
    public void close() throws IOException {
        for (EventLoop loop : loops) {
            loop.close();
        }
    }
}
