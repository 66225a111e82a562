package dev.loadline.share;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Speaks for one client, and writes its page; the real daemon is tested with this client in {@code crates/cli}. */
final class FakeDaemon implements AutoCloseable {
    final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private final ServerSocketChannel server;
    private final Path socket;
    private final Path page;
    private final ByteBuffer bytes;
    private final String answer;
    private volatile SocketChannel client;

    FakeDaemon(Path dir, String answer, int version) throws IOException {
        socket = dir.resolve("share.sock");
        page = dir.resolve("page");
        Files.write(page, new byte[4096]);
        try (var file = FileChannel.open(page, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            bytes = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096).order(ByteOrder.nativeOrder());
        }
        bytes.put(0, "LLSHARE1".getBytes(StandardCharsets.US_ASCII));
        bytes.putInt(8, version).putInt(12, 192);
        this.answer = answer == null ? "ok id=1 page=" + page : answer;
        Files.deleteIfExists(socket);
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
        Thread thread = new Thread(this::serve, "fake-daemon");
        thread.setDaemon(true);
        thread.start();
    }

    FakeDaemon(Path dir) throws IOException {
        this(dir, null, 1);
    }

    Path socket() {
        return socket;
    }

    private void serve() {
        while (server.isOpen()) {
            try (SocketChannel channel = server.accept()) {
                client = channel;
                var buffer = ByteBuffer.allocate(4096);
                var line = new StringBuilder();
                while (channel.read(buffer.clear()) >= 0) {
                    buffer.flip();
                    while (buffer.hasRemaining()) {
                        char c = (char) buffer.get();
                        if (c != '\n') {
                            line.append(c);
                            continue;
                        }
                        heard.add(line.toString());
                        say(line.toString().startsWith("register") ? answer : "ok");
                        line.setLength(0);
                    }
                }
            } catch (IOException e) {
                // The client has gone, or we are closed.
            }
        }
    }

    void say(String line) throws IOException {
        client.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.US_ASCII)));
    }

    /** Writes the page as the daemon does. */
    void assign(double cpus, long set) {
        bytes.putLong(16, bytes.getLong(16) + 1);
        bytes.putInt(32, (int) (cpus * 1000)).putLong(56, 1).putLong(64, set);
        bytes.putLong(16, bytes.getLong(16) + 1);
    }

    void letGo() {
        bytes.putLong(56, 0);
    }

    String hear() throws InterruptedException {
        return heard.poll(5, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws IOException {
        server.close();
        if (client != null) {
            client.close();
        }
        Files.deleteIfExists(socket);
    }
}
