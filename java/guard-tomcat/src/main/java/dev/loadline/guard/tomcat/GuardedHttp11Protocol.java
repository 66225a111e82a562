package dev.loadline.guard.tomcat;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.ProxyProtocol;
import dev.loadline.guard.RequestClassifier;
import java.util.Arrays;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.Adapter;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.openssl.OpenSSLStatus;

/**
 * HTTP/1.1 over TLS with a guard: {@code <Connector protocol="dev.loadline.guard.tomcat.GuardedHttp11Protocol" …>}.
 * The attribute {@code guard} takes the options, {@code mode=observe; high=/checkout/**}; without it the
 * defaults hold. With {@code <UpgradeProtocol className="org.apache.coyote.http2.Http2Protocol"/>} streams of HTTP/2 are guarded too.
 * Everything else is as in {@code Http11NioProtocol}.
 */
public class GuardedHttp11Protocol extends Http11NioProtocol {
    private static final System.Logger LOG = System.getLogger("loadline-guard");

    private final GuardedEndpoint endpoint;
    private String options = "";
    private RequestClassifier classifier;
    private volatile Guard guard;
    private volatile StreamGate streams;

    public GuardedHttp11Protocol() {
        this(endpoint());
    }

    /** Says first what the version is: a Tomcat that is too old fails with the next step, and does not say why. */
    private static GuardedEndpoint endpoint() {
        String complaint = TomcatVersions.complaint(ServerInfo.getServerNumber());
        if (complaint != null) {
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: " + complaint);
        }
        return new GuardedEndpoint();
    }

    private GuardedHttp11Protocol(GuardedEndpoint endpoint) {
        super(endpoint);
        this.endpoint = endpoint;
        // JSSE even where Tomcat would choose OpenSSL by itself: its engines can be told to resume only.
        endpoint.setSslImplementationName(GuardedSslImplementation.class.getName());
    }

    /**
     * The options; see {@link GuardSettings#of}. Takes effect when the connector starts, which it does not with a wrong
     * one: Tomcat only logs what a setter throws, and would go on with a guard that nobody asked for.
     */
    public void setGuard(String options) {
        this.options = options;
        GuardSettings.of(options); // said here too, where the attribute is
    }

    public String getGuard() {
        return options;
    }

    /** Who tells which requests and customers matter. */
    public void setGuardClassifier(RequestClassifier classifier) {
        this.classifier = classifier;
        if (guard != null) {
            guard.classifier(classifier);
        }
    }

    /** The guard of this connector; null while it is not started, or does not speak TLS. */
    public Guard guard() {
        return guard;
    }

    /** That of its streams of HTTP/2, which follows it in mode and objective; null where there are none, or a {@link GuardValve} has them. */
    public Guard streamGuard() {
        StreamGate now = streams;
        return now == null ? null : now.guard();
    }

    GuardedEndpoint guardedEndpoint() {
        return endpoint;
    }

    @Override
    public void setAdapter(Adapter adapter) {
        super.setAdapter(adapter == null ? null : new GuardedAdapter(adapter, endpoint, () -> streams));
    }

    @Override
    public void start() throws Exception {
        GuardSettings settings = GuardSettings.of(options);
        if (isSSLEnabled()) {
            guard = new Guard(endpoint.getName(), settings);
            if (classifier != null) {
                guard.classifier(classifier);
            }
            endpoint.guard(guard);
            guard.start();
            sayInPlaceOfOpenSsl();
            guardStreams();
        } else if (settings.proxyProtocol() != ProxyProtocol.OFF) {
            throw new IllegalArgumentException("guard: proxyProtocol is set, and connector " + getName() + " does not speak TLS: its connections"
                + " are not read by the guard. Set SSLEnabled, or remove the option");
        } else {
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: connector " + getName() + " does not speak TLS: its connections"
                + " are not guarded. Its requests can be: see GuardValve");
        }
        try {
            super.start();
            endpoint.readProtocols();
        } catch (Exception e) {
            closeGuard();
            throw e;
        }
    }

    @Override
    public void stop() throws Exception {
        try {
            super.stop();
        } finally {
            endpoint.closeAll();
            closeGuard();
        }
    }

    /** An administrator who installed OpenSSL must know that this connector does not use it. */
    private void sayInPlaceOfOpenSsl() {
        if (endpoint.restricts() && wouldUseOpenSsl()) {
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: connector " + getName() + " uses JSSE, where Tomcat would have taken"
                + " OpenSSL: only JSSE's engines can be told to resume only. To keep OpenSSL, set sslImplementationName on the connector.");
        }
    }

    private static boolean wouldUseOpenSsl() {
        try {
            return OpenSSLStatus.isAvailable() && OpenSSLStatus.getUseOpenSSL();
        } catch (NoClassDefFoundError e) {
            return false; // a Tomcat before that class: it cannot be told
        }
    }

    private void guardStreams() {
        if (Arrays.stream(findUpgradeProtocols()).noneMatch(Http2Protocol.class::isInstance)) {
            return;
        }
        if (GuardValve.runs()) {
            LOG.log(System.Logger.Level.INFO, "loadline-guard: streams of HTTP/2 are left to the GuardValve that runs here");
            return;
        }
        streams = new StreamGate(guard, endpoint::getExecutor);
    }

    private void closeGuard() {
        if (guard != null) {
            guard.close();
        }
        StreamGate now = streams;
        streams = null;
        if (now != null) {
            now.close();
        }
    }
}
