package dev.loadline.guardbench.verdict;

import dev.loadline.guard.hello.ClientHello;
import dev.loadline.guard.hello.ClientHelloReader;
import dev.loadline.guardbench.Options;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.HexFormat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * An HTTPS server, one request a connection, that writes one CSV line for each: the client's port, when
 * it came (CLOCK_MONOTONIC), what the guard read in its hello, and what JSSE did then. Ends when its
 * standard input does. After every {@code --rotate} connections it takes a new SSLContext, as a reload of
 * certificates does, so that all tickets and ids go stale at once.
 */
public final class VerdictServer {
    private static final int TIMEOUT_MS = 10_000;

    private final KeyStore keyStore;
    private final char[] password;
    private final boolean tls13;
    private final int rotate;
    private final PrintWriter out;
    private final Path hellos;
    private final AtomicInteger served = new AtomicInteger();
    private volatile SSLContext context;

    private VerdictServer(Options options) throws Exception {
        password = options.text("password", "changeit").toCharArray();
        keyStore = KeyStore.getInstance(Path.of(options.text("keystore", "keystore.p12")).toFile(), password);
        tls13 = options.text("tls", "1.3").equals("1.3");
        rotate = options.number("rotate", 0);
        out = new PrintWriter(Files.newBufferedWriter(Path.of(options.text("out", "verdict.csv"))));
        hellos = options.has("hellos") ? Files.createDirectories(Path.of(options.text("hellos", ""))) : null;
        context = newContext();
    }

    public static void main(String[] args) throws Exception {
        new VerdictServer(new Options(args, "keystore", "password", "tls", "rotate", "out", "hellos")).run();
    }

    private SSLContext newContext() throws Exception {
        var factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(keyStore, password);
        SSLContext fresh = SSLContext.getInstance("TLS");
        fresh.init(factory.getKeyManagers(), null, null);
        return fresh;
    }

    private void run() throws Exception {
        out.println("port,accept_ns,guard,reason,jsse,version,sni,records,bytes,identities");
        ExecutorService workers = Executors.newCachedThreadPool();
        try (var listener = new ServerSocket()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 512);
            System.out.println("port " + listener.getLocalPort());
            Thread acceptor = new Thread(() -> accept(listener, workers), "acceptor");
            acceptor.start();
            while (System.in.read() >= 0) {
                // Nothing is expected on it but its end.
            }
            listener.close();
            acceptor.join();
        }
        workers.shutdown();
        workers.awaitTermination(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS);
        synchronized (out) {
            out.close();
        }
        System.out.println("served " + served.get());
    }

    private void accept(ServerSocket listener, ExecutorService workers) {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                long at = System.nanoTime();
                int n = served.getAndIncrement();
                if (rotate > 0 && n > 0 && n % rotate == 0) {
                    context = newContext();
                }
                workers.execute(() -> serve(socket, at, n));
            } catch (Exception e) {
                if (!listener.isClosed()) {
                    System.err.println("accept: " + e);
                }
            }
        }
    }

    private void serve(Socket socket, long at, int n) {
        SSLContext now = context;
        long beginMs = System.currentTimeMillis();
        var reader = new ClientHelloReader();
        String jsse = "failed";
        String version = "";
        try (socket) {
            socket.setSoTimeout(TIMEOUT_MS);
            socket.setTcpNoDelay(true);
            byte[] consumed = readHello(socket.getInputStream(), reader);
            if (consumed.length == 0) {
                return; // opened ahead of need and never used
            }
            try (SSLSocket tls = (SSLSocket) now.getSocketFactory()
                    .createSocket(socket, new ByteArrayInputStream(consumed), true)) {
                tls.setUseClientMode(false);
                tls.setEnabledProtocols(tls13 ? new String[] {"TLSv1.3", "TLSv1.2"} : new String[] {"TLSv1.2"});
                tls.startHandshake();
                version = tls.getSession().getProtocol();
                jsse = resumed(tls, beginMs) ? "resumed" : "full";
                note(socket.getPort(), at, reader, jsse, version);
                answer(tls);
            }
        } catch (IOException e) {
            if (jsse.equals("failed")) {
                note(socket.getPort(), at, reader, jsse, version);
            }
            // A client that left after its handshake has been noted; the comparison needs no more of it.
        }
        keep(reader, jsse, n);
    }

    /**
     * A resumed session keeps the time at which it was first made, whether it comes from the cache, a ticket or
     * a pre-shared key. (That the key manager is asked for a certificate does not tell: JDK 25
     * asks it also for each session that it takes from a ticket.)
     */
    private static boolean resumed(SSLSocket tls, long beginMs) {
        return tls.getSession().getCreationTime() < beginMs;
    }

    private static byte[] readHello(InputStream in, ClientHelloReader reader) throws IOException {
        var consumed = new ByteArrayOutputStream();
        byte[] buffer = new byte[4096];
        while (reader.status() == ClientHelloReader.Status.NEED_MORE) {
            int got = in.read(buffer);
            if (got < 0) {
                break;
            }
            consumed.write(buffer, 0, got);
            reader.feed(ByteBuffer.wrap(buffer, 0, got));
        }
        return consumed.toByteArray();
    }

    private void note(int port, long at, ClientHelloReader reader, String jsse, String version) {
        ClientHello hello = reader.hello();
        String guard = hello == null ? reader.status().toString() : hello.kind(tls13).toString();
        synchronized (out) {
            out.printf("%d,%d,%s,%s,%s,%s,%s,%d,%d,%d%n", port, at, guard,
                reader.notTls() == null ? "" : reader.notTls(), jsse, version,
                hello == null || hello.sni() == null ? "" : hello.sni(),
                hello == null ? 0 : hello.records(), hello == null ? 0 : hello.bytes(),
                hello == null ? 0 : hello.pskIdentities());
        }
    }

    /** Keeps the bytes of the first hellos, for the corpus of the tests. */
    private void keep(ClientHelloReader reader, String jsse, int n) {
        if (hellos == null || n >= 100) {
            return;
        }
        byte[] bytes = new byte[reader.taken().remaining()];
        reader.taken().get(bytes);
        try {
            Files.writeString(hellos.resolve("%03d-%s-%s.hex".formatted(n,
                reader.hello() == null ? reader.status() : reader.hello().kind(tls13), jsse)), HexFormat.of().formatHex(bytes));
        } catch (IOException e) {
            System.err.println("hello not kept: " + e);
        }
    }

    private static void answer(SSLSocket tls) throws IOException {
        String path = requestPath(tls.getInputStream());
        if (path.equals("/done")) {
            System.out.println("done");
        }
        byte[] body = (path.startsWith("/run") ? Pages.RUN : Pages.HOME).getBytes(StandardCharsets.UTF_8);
        tls.getOutputStream().write(("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + body.length
            + "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
        tls.getOutputStream().write(body);
        tls.getOutputStream().flush();
    }

    /** Reads a request's head and returns its path; empty if none came. */
    private static String requestPath(InputStream in) throws IOException {
        var head = new StringBuilder();
        byte[] buffer = new byte[4096];
        while (head.indexOf("\r\n\r\n") < 0) {
            int got = in.read(buffer);
            if (got < 0) {
                break;
            }
            head.append(new String(buffer, 0, got, StandardCharsets.ISO_8859_1));
        }
        String[] words = head.toString().split(" ", 3);
        return words.length < 2 ? "" : words[1];
    }
}
