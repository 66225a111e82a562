package dev.loadline.guard.tomcat;

import dev.loadline.guard.GuardMXBean;
import dev.loadline.guard.InsideForTest;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

/** An embedded Tomcat with a guarded connector on a free port of the loopback, and one servlet. */
final class TestServer implements AutoCloseable {
    /** About a millisecond of a CPU: more on a slow one, half of it on a fast one. */
    private static final long TURNS_PER_MILLI = 1_000_000;
    static final String PASSWORD = "changeit";
    /** Of all servers of this JVM: Tomcat makes the first one's folder again for each later one. */
    private static final Path FOLDER = folder();
    private static Path keyStore;

    private final Tomcat tomcat = new Tomcat();
    private final Connector connector;
    private final GuardedHttp11Protocol protocol;

    /** @param attributes more of the connector, as name=value; also {@code http2}, and {@code keys=FILE} in place of {@link #keyStore} */
    TestServer(String options, String protocols, String... attributes) throws Exception {
        Path base = Files.createTempDirectory(FOLDER, "base");
        tomcat.setBaseDir(base.toString());
        connector = new Connector(GuardedHttp11Protocol.class.getName());
        connector.setPort(0);
        connector.setSecure(true);
        connector.setScheme("https");
        connector.setThrowOnFailure(true);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("SSLEnabled", "true");
        connector.setProperty("guard", options);
        String keys = keyStore().toString();
        for (String attribute : attributes) {
            String[] part = attribute.split("=", 2);
            if (part[0].equals("http2")) {
                connector.addUpgradeProtocol(new Http2Protocol());
            } else if (part[0].equals("keys")) {
                keys = part[1];
            } else {
                connector.setProperty(part[0], part[1]);
            }
        }
        var host = new SSLHostConfig();
        host.setProtocols(protocols);
        var certificate = new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
        certificate.setCertificateKeystoreFile(keys);
        certificate.setCertificateKeystorePassword(PASSWORD);
        host.addCertificate(certificate);
        connector.addSslHostConfig(host);
        tomcat.getService().addConnector(connector);
        Context context = tomcat.addContext("", base.toString());
        if (context instanceof StandardContext standard) {
            // Tomcat would look for leaks of a reloaded application, by reflection that JDK 17 forbids.
            standard.setClearReferencesThreadLocals(false);
            standard.setClearReferencesRmiTargets(false);
        }
        var servlet = Tomcat.addServlet(context, "hello", new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
                String millis = request.getParameter("ms");
                switch (request.getRequestURI()) {
                    case "/burn" -> burn(Long.parseLong(millis));
                    case "/sleep" -> LockSupport.parkNanos(Long.parseLong(millis) * 1_000_000);
                    case "/who" -> response.getWriter().print(request.getRemoteAddr() + " " + request.getRemotePort() + " ");
                    case "/later" -> {
                        later(request.startAsync());
                        return;
                    }
                    default -> { }
                }
                response.getWriter().print("hello " + request.getRequestURI());
            }
        });
        servlet.setAsyncSupported(true);
        context.addServletMappingDecoded("/", "hello");
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            close();
            throw e;
        }
        protocol = (GuardedHttp11Protocol) connector.getProtocolHandler();
        if (options.contains(" fullCost=") && !options.contains(" fullCost=1us")) {
            // What is owed is given, and so is that threads wait: these tests are about what follows.
            InsideForTest.makeBusy(protocol.guard());
        }
    }

    private static void later(AsyncContext context) {
        new Thread(() -> {
            try {
                Thread.sleep(20);
                context.getResponse().getWriter().print("hello later");
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                context.complete();
            }
        }).start();
    }

    /** Work, not time: what it takes of a CPU that is shared is the same. */
    private static void burn(long millis) {
        long sum = millis;
        for (long i = 0; i < millis * TURNS_PER_MILLI; i++) {
            sum = sum * 31 + Long.rotateLeft(sum, 7);
        }
        if (sum == 42) {
            throw new IllegalStateException("never: so that it is not compiled away");
        }
    }

    private static Path folder() {
        try {
            Path made = Files.createTempDirectory("guarded");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try (Stream<Path> all = Files.walk(made)) {
                    all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static synchronized Path keyStore() throws Exception {
        if (keyStore == null) {
            keyStore = keyStore("keys.p12", "dns:localhost");
        }
        return keyStore;
    }

    /** Makes one, with these names of the server, for {@code keys=FILE}. */
    static Path keyStore(String fileName, String names) throws Exception {
        Path file = FOLDER.resolve(fileName);
        var process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-alias", "server", "-keystore", file.toString(),
            "-storepass", PASSWORD, "-dname", "CN=localhost", "-ext", "san=" + names).inheritIO().start();
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("keytool made no key");
        }
        return file;
    }

    int port() {
        return connector.getLocalPort();
    }

    GuardedHttp11Protocol protocol() {
        return protocol;
    }

    GuardMXBean figures() {
        return protocol.guard().figures();
    }

    GuardedEndpoint endpoint() {
        return protocol.guardedEndpoint();
    }

    void restart() throws LifecycleException {
        connector.stop();
        connector.start();
    }

    /** Runs its events on these threads from now on. */
    void restart(Executor threads) throws LifecycleException {
        connector.stop();
        protocol.setExecutor(threads);
        connector.start();
    }

    @Override
    public void close() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }

    /** Waits for something that happens on another thread. */
    static void until(String what, java.util.function.BooleanSupplier holds) throws InterruptedException {
        for (long end = System.nanoTime() + 20_000_000_000L; !holds.getAsBoolean(); ) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within 20 s: " + what);
            }
            Thread.sleep(10);
        }
    }
}
