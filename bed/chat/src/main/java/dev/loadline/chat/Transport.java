package dev.loadline.chat;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/** Makes links. To close it ends all of them. */
interface Transport extends Closeable {
    /** Connections that may wait to be accepted: a client opens thousands at once. */
    int BACKLOG = 4_096;

    /** Accepts connections on the loopback interface and returns the port; 0 takes a free one. */
    int listen(int port, Supplier<Link.Handler> handlers) throws IOException;

    /** Connects; returns when the connection (not its TLS handshake) stands. */
    Link connect(InetSocketAddress to, Link.Handler handler) throws IOException;

    /** How connections are served. */
    enum Kind {
        /** Two platform threads each. */
        THREADS,
        /** Two virtual threads each. */
        VIRTUAL,
        /** Event loops, as many as told. */
        NIO
    }

    /** @param tls for all connections, or null */
    static Transport of(Kind kind, int loops, SSLContext tls, String name) throws IOException {
        return switch (kind) {
            case THREADS -> new BlockingTransport(BlockingTransport.platformThreads(name), tls);
            case VIRTUAL -> new BlockingTransport(dev.loadline.bed.VirtualThreads.factory(name + "-"), tls);
            case NIO -> new NioTransport(loops, tls, name);
        };
    }
}
