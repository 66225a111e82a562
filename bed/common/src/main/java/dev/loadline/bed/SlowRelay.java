package dev.loadline.bed;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Stands between a client and a server on this machine; what the server answers arrives late, as over a slow network. */
public final class SlowRelay implements AutoCloseable {
    private static final int BUFFER = 64 << 10;
    private static final int BACKLOG = 50;

    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final ServerSocket listener;
    private final int behind;
    private final long delayNanos;

    /** In front of the server at that port of the loopback interface. */
    public SlowRelay(int behind, long delayNanos) throws IOException {
        this.behind = behind;
        this.delayNanos = delayNanos;
        listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        daemon("slow-relay", this::relay);
    }

    /** Where clients connect, on the loopback interface. */
    public int port() {
        return listener.getLocalPort();
    }

    private void relay() {
        try {
            while (true) {
                Socket client = listener.accept();
                var server = new Socket(InetAddress.getLoopbackAddress(), behind);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                open.add(client);
                open.add(server);
                daemon("slow-relay-asks", () -> pass(client, server, 0));
                daemon("slow-relay-answers", () -> pass(server, client, delayNanos));
            }
        } catch (IOException closed) {
            // The end, which closes the listener.
        }
    }

    private void pass(Socket from, Socket to, long delay) {
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            var buffer = new byte[BUFFER];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                Delay.nanos(delay);
                out.write(buffer, 0, n);
            }
        } catch (IOException ended) {
            // Either side has closed; the other is closed with it.
        }
        open.remove(from);
        open.remove(to);
    }

    private static void daemon(String name, Runnable job) {
        var thread = new Thread(job, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Both ends of every connection too. */
    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
