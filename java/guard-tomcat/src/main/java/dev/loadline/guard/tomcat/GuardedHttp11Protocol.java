package dev.loadline.guard.tomcat;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.RequestClassifier;
import org.apache.coyote.Adapter;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.net.openssl.OpenSSLStatus;

/**
 * HTTP/1.1 over TLS with a guard: {@code <Connector protocol="dev.loadline.guard.tomcat.GuardedHttp11Protocol" …>}.
 * The attribute {@code guard} takes the options, {@code mode=observe; high=/checkout/**}; without it the
 * defaults hold. Everything else is as in {@code Http11NioProtocol}.
 */
public class GuardedHttp11Protocol extends Http11NioProtocol {
    private static final System.Logger LOG = System.getLogger("loadline-guard");

    private final GuardedEndpoint endpoint;
    private String options = "";
    private RequestClassifier classifier;
    private volatile Guard guard;

    public GuardedHttp11Protocol() {
        this(new GuardedEndpoint());
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

    GuardedEndpoint guardedEndpoint() {
        return endpoint;
    }

    @Override
    public void setAdapter(Adapter adapter) {
        super.setAdapter(adapter == null ? null : new GuardedAdapter(adapter, endpoint));
    }

    @Override
    public void start() throws Exception {
        if (isSSLEnabled()) {
            GuardSettings settings = GuardSettings.of(options);
            guard = new Guard(endpoint.getName(), settings);
            if (classifier != null) {
                guard.classifier(classifier);
            }
            endpoint.guard(guard);
            guard.start();
            sayInPlaceOfOpenSsl();
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
        if (endpoint.restricts() && OpenSSLStatus.isAvailable() && OpenSSLStatus.getUseOpenSSL()) {
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: connector " + getName() + " uses JSSE, where Tomcat would have taken"
                + " OpenSSL: only JSSE's engines can be told to resume only. To keep OpenSSL, set sslImplementationName on the connector.");
        }
    }

    private void closeGuard() {
        if (guard != null) {
            guard.close();
        }
    }
}
