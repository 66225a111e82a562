package dev.loadline.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Two threads for each link: one reads and handles, one sends. */
final class BlockingTransport implements Transport {
    private final ThreadFactory threads;
    private final SSLContext tls;
    private final Set<BlockingLink> links = ConcurrentHashMap.newKeySet();
    private volatile ServerSocket server;
    private volatile boolean closed;

    BlockingTransport(ThreadFactory threads, SSLContext tls) {
        this.threads = threads;
        this.tls = tls;
    }

    static ThreadFactory platformThreads(String name) {
        var number = new AtomicInteger();
        return task -> {
            var thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public int listen(int port, Supplier<Link.Handler> handlers) throws IOException {
        server = new ServerSocket();
        server.setReuseAddress(true);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
        var acceptor = new Thread(() -> accept(handlers), "acceptor");
        acceptor.setDaemon(true);
        acceptor.start();
        return server.getLocalPort();
    }

    private void accept(Supplier<Link.Handler> handlers) {
        while (!closed) {
            try {
                Socket socket = server.accept();
                if (tls != null) {
                    var secured = (SSLSocket) tls.getSocketFactory().createSocket(socket, null, true);
                    secured.setUseClientMode(false);
                    socket = secured;
                }
                start(socket, handlers.get());
            } catch (IOException e) {
                if (!closed) {
                    System.err.println("chat: a connection could not be accepted: " + e.getMessage());
                }
            }
        }
    }

    @Override
    public Link connect(InetSocketAddress to, Link.Handler handler) throws IOException {
        var socket = new Socket();
        socket.connect(to);
        if (tls != null) {
            socket = tls.getSocketFactory().createSocket(socket, to.getHostString(), to.getPort(), true);
        }
        return start(socket, handler);
    }

    private Link start(Socket socket, Link.Handler handler) throws IOException {
        socket.setTcpNoDelay(true);
        var link = new BlockingLink(socket, handler, links::remove);
        links.add(link);
        threads.newThread(link::readAll).start();
        threads.newThread(link::sendAll).start();
        return link;
    }

    @Override
    public void close() throws IOException {
        closed = true;
        if (server != null) {
            server.close();
        }
        links.forEach(BlockingLink::close);
    }
}
