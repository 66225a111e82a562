package dev.loadline.guard.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Keys of the servers of this JVM, and clients that trust anybody. */
final class Tls {
    static final String PASSWORD = "changeit";
    private static Path keyStore;

    private Tls() {}

    static synchronized Path keyStore() throws Exception {
        if (keyStore == null) {
            Path folder = Files.createTempDirectory("guarded");
            Path file = folder.resolve("keys.p12");
            var process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-alias", "server", "-keystore", file.toString(),
                "-storepass", PASSWORD, "-dname", "CN=localhost", "-ext", "san=dns:localhost").inheritIO().start();
            if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("keytool made no key");
            }
            folder.toFile().deleteOnExit(); // last in, first out: the file goes before it
            file.toFile().deleteOnExit();
            keyStore = file;
        }
        return keyStore;
    }

    static SSLContext ofServer() throws Exception {
        var keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keyStore())) {
            keys.load(in, PASSWORD.toCharArray());
        }
        var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, new SecureRandom());
        return context;
    }

    /** A client's: it remembers its sessions, and another one knows nothing of them. */
    static SSLContext ofClient() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new Trusting()}, new SecureRandom());
            return context;
        } catch (java.security.GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @param halting whether its first message comes in two parts, some time apart */
    static SSLSocket connect(SSLContext context, InetAddress from, int port, boolean halting) throws IOException {
        return connect(context, from, port, halting, new byte[0]);
    }

    /** @param header what a proxy writes before the first byte of its client */
    static SSLSocket connect(SSLContext context, InetAddress from, int port, boolean halting, byte[] header) throws IOException {
        var plain = halting ? new Halting() : new Socket();
        plain.bind(new InetSocketAddress(from, 0));
        plain.connect(new InetSocketAddress("127.0.0.1", port), 20_000);
        plain.setSoTimeout(20_000);
        plain.getOutputStream().write(header);
        return (SSLSocket) context.getSocketFactory().createSocket(plain, "127.0.0.1", port, true);
    }

    private static final class Halting extends Socket {
        private static final int PART = 60;
        private boolean first = true;

        @Override
        public OutputStream getOutputStream() throws IOException {
            OutputStream out = super.getOutputStream();
            return new OutputStream() {
                @Override
                public void write(int b) throws IOException {
                    out.write(b);
                }

                @Override
                public void write(byte[] bytes, int from, int length) throws IOException {
                    int now = first ? Math.min(PART, length) : 0;
                    out.write(bytes, from, now);
                    if (first) {
                        first = false;
                        out.flush();
                        try {
                            Thread.sleep(50);
                        } catch (InterruptedException e) {
                            throw new IOException(e);
                        }
                    }
                    out.write(bytes, from + now, length - now);
                }
            };
        }
    }

    private static final class Trusting implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
