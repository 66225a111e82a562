package dev.loadline.agent.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** One HTTPS connection that is kept alive; contexts decide whether it resumes. */
public final class HttpsClient implements AutoCloseable {
    private final SSLSocket socket;
    private final BufferedReader in;
    private final boolean resumed;

    /** Opens a connection. With a context that has talked to the server before, it resumes. */
    public HttpsClient(SSLContext context, int port) throws IOException {
        this(context, new Socket("127.0.0.1", port));
    }

    /** Shakes hands on a connection that is open. */
    public HttpsClient(SSLContext context, Socket connected) throws IOException {
        socket = (SSLSocket) context.getSocketFactory().createSocket(connected, "127.0.0.1", connected.getPort(), true);
        socket.setSoTimeout(10_000);
        socket.setTcpNoDelay(true); // else the first request waits 40 ms, until the handshake's last flight is acknowledged
        long before = System.currentTimeMillis();
        socket.startHandshake();
        resumed = socket.getSession().getCreationTime() < before;
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    }

    /** A context without sessions, which trusts everyone. */
    public static SSLContext newContext() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
        return context;
    }

    /** What the client knows: its session is older than its connection. */
    public boolean resumed() {
        return resumed;
    }

    public int port() {
        return socket.getLocalPort();
    }

    /** GETs a path, reads the answer, and returns its status. */
    public int get(String path) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        out.flush();
        String status = in.readLine();
        if (status == null) {
            throw new IOException("the server closed the connection");
        }
        int length = 0;
        for (String header = in.readLine(); !header.isEmpty(); header = in.readLine()) {
            if (header.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                length = Integer.parseInt(header.substring("content-length:".length()).trim());
            }
        }
        for (int i = 0; i < length; i++) {
            in.read();
        }
        return Integer.parseInt(status.split(" ")[1]);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private static final class TrustAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
