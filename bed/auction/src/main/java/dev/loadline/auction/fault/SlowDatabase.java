package dev.loadline.auction.fault;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.h2.tools.Server;

/**
 * A database behind a slow network: what it answers arrives 4 ms late. Between site and database stands a
 * relay; H2, which has no socket by itself, gets one.
 */
final class SlowDatabase extends Fault {
    private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(4);
    private static final int BUFFER = 64 << 10;
    private static final String H2 = "jdbc:h2:";

    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private Server h2;
    private ServerSocket listener;

    SlowDatabase(String name) {
        super(name);
    }

    @Override
    public String reach(String url) throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        String own = "127.0.0.1:" + listener.getLocalPort();
        int behind;
        String through;
        if (url.startsWith(H2)) {
            try {
                h2 = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
            } catch (java.sql.SQLException e) {
                throw new IOException("H2's server: " + e.getMessage(), e);
            }
            behind = h2.getPort();
            through = H2 + "tcp://" + own + "/" + url.substring(H2.length());
        } else {
            var address = URI.create(url.substring("jdbc:".length()));
            behind = address.getPort();
            through = url.replace(address.getHost() + ":" + behind, own);
        }
        daemon("slow-database", () -> relay(behind));
        return through;
    }

    private void relay(int behind) {
        try {
            while (true) {
                Socket client = listener.accept();
                var server = new Socket(InetAddress.getLoopbackAddress(), behind);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                open.add(client);
                open.add(server);
                daemon("slow-database-asks", () -> pass(client, server, 0));
                daemon("slow-database-answers", () -> pass(server, client, DELAY_NANOS));
            }
        } catch (IOException closed) {
            // The end of the site, which closes the listener.
        }
    }

    private void pass(Socket from, Socket to, long delayNanos) {
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            var buffer = new byte[BUFFER];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (delayNanos > 0) {
                    LockSupport.parkNanos(delayNanos);
                }
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

    /** After the pool's connections, which go through it. */
    @Override
    public void afterDatabase() {
        try {
            if (listener != null) {
                listener.close();
            }
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            System.err.println("auction: closing the relay: " + e.getMessage());
        }
        if (h2 != null) {
            h2.stop();
        }
    }
}
