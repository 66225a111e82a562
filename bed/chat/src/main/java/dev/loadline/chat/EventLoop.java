package dev.loadline.chat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/** One thread that serves many links: reads what came, handles it, sends what is due. */
final class EventLoop {
    /** Takes an accepted connection. */
    interface Accepted {
        void take(SocketChannel channel) throws IOException;
    }

    /** Bytes read at once, and sent at once; more than a TLS record, so that one always fits. */
    static final int BUFFER = 64 * 1_024;

    private final Selector selector;
    private final Thread thread;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile boolean closed;
    /** Shared by all links of the loop: each uses them for the time of one call. */
    final ByteBuffer net = ByteBuffer.allocateDirect(BUFFER);
    final ByteBuffer plain = ByteBuffer.allocate(BUFFER);
    final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER);

    EventLoop(String name) throws IOException {
        selector = Selector.open();
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Has this loop's thread do something: at once if this is it, else soon. */
    void execute(Runnable task) {
        tasks.add(task);
        if (Thread.currentThread() != thread && woken.compareAndSet(false, true)) {
            selector.wakeup();
        }
    }

    void accept(ServerSocketChannel server, Accepted accepted) {
        execute(() -> {
            try {
                server.register(selector, SelectionKey.OP_ACCEPT, (Runnable) () -> acceptAll(server, accepted));
            } catch (IOException e) {
                System.err.println("chat: cannot accept connections: " + e.getMessage());
            }
        });
    }

    private static void acceptAll(ServerSocketChannel server, Accepted accepted) {
        try {
            for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
                accepted.take(channel);
            }
        } catch (IOException e) {
            System.err.println("chat: a connection could not be accepted: " + e.getMessage());
        }
    }

    void add(NioLink link) {
        execute(() -> {
            try {
                link.registered(link.channel().register(selector, SelectionKey.OP_READ, (Runnable) link::ready));
            } catch (IOException e) {
                link.fail(e);
            }
        });
    }

    private void run() {
        try {
            while (!closed) {
                if (tasks.isEmpty()) {
                    selector.select(key -> ((Runnable) key.attachment()).run());
                } else {
                    selector.selectNow(key -> ((Runnable) key.attachment()).run());
                }
                woken.set(false);
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
            }
        } catch (IOException e) {
            System.err.println("chat: an event loop failed: " + e.getMessage());
        } finally {
            for (SelectionKey key : selector.keys()) {
                closeQuietly(key);
            }
            try {
                selector.close();
            } catch (IOException e) {
                System.err.println("chat: a selector could not be closed: " + e.getMessage());
            }
        }
    }

    private static void closeQuietly(SelectionKey key) {
        try {
            key.channel().close();
        } catch (IOException e) {
            // Everything ends here, and the other end notices.
        }
    }

    void close() {
        closed = true;
        selector.wakeup();
    }
}
