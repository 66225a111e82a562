package dev.loadline.share;

import java.io.Closeable;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The socket, a line at a time. One thread reads; any may send. */
final class Line implements Closeable {
    /** As in the daemon: a longer line is nobody's. */
    private static final int LONGEST = 4096;

    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocate(LONGEST).flip();

    private Line(SocketChannel channel) {
        this.channel = channel;
    }

    /** Null if there is nobody. */
    static Line connect(Path socket) throws IOException {
        if (!Files.exists(socket)) {
            return null;
        }
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return new Line(channel);
        } catch (IOException e) {
            channel.close();
            if (e instanceof java.net.ConnectException) {
                return null; // left by one that died
            }
            throw new IOException(socket + ": " + e.getMessage(), e);
        }
    }

    synchronized void send(String message) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((message + "\n").getBytes(StandardCharsets.US_ASCII));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** The next line; null at the end. */
    String read() throws IOException {
        var line = new StringBuilder();
        while (true) {
            while (in.hasRemaining()) {
                char c = (char) (in.get() & 0xff);
                if (c == '\n') {
                    return line.toString();
                }
                if (line.length() == LONGEST) {
                    throw new IOException("the CPU manager sends lines without end");
                }
                line.append(c);
            }
            in.clear();
            int n;
            try {
                n = channel.read(in);
            } catch (java.nio.channels.ClosedChannelException e) {
                n = -1;
            }
            in.flip();
            if (n < 0) {
                in.limit(0);
                return null;
            }
        }
    }

    /** Where the page is, by the answer to a registration. */
    Path page(String answer) throws IOException {
        for (String word : answer.split(" ")) {
            if (word.startsWith("page=")) {
                return Path.of(word.substring("page=".length()));
            }
        }
        throw new IOException("the CPU manager's answer has no page: " + answer);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // It is of no use any more either way.
        }
    }
}
