package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog;
import jakarta.servlet.http.HttpServlet;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.core.StandardService;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

/** The web server: an embedded Tomcat with one context, its connectors bound to 127.0.0.1. */
public final class Site {
    private static final int SESSION_MINUTES = 10;
    private static final long GRACE_MS = 2_000;
    private static final String TOMCATS_OWN = "org.apache.coyote.http11.Http11NioProtocol";

    private final Tomcat tomcat = new Tomcat();
    private final List<ConnectorExtension> extensions =
        ServiceLoader.load(ConnectorExtension.class).stream().map(ServiceLoader.Provider::get).toList();
    private final Connector https;
    private final Connector http;

    /**
     * Where the certificate is.
     *
     * @param file a PKCS#12 file
     * @param password its password
     * @param alias the entry
     * @param elliptic whether the key is an EC key
     */
    public record KeyStore(Path file, String password, String alias, boolean elliptic) {
    }

    /** Prepares a site; {@code httpPort} -1 means no plain HTTP. */
    public Site(Path work, int httpsPort, int httpPort, int threads, KeyStore keyStore, Catalog catalog, long seed) {
        tomcat.setBaseDir(work.toString());
        https = secure(connector(httpsPort, threads), keyStore);
        extensions.forEach(extension -> extension.extend(https));
        tomcat.getService().addConnector(https);
        http = httpPort < 0 ? null : connector(httpPort, threads);
        if (http != null) {
            extensions.forEach(extension -> extension.extend(http));
            tomcat.getService().addConnector(http);
        }
        ((StandardService) tomcat.getService()).setGracefulStopAwaitMillis(GRACE_MS);
        Context context = tomcat.addContext("", work.toString());
        context.setSessionTimeout(SESSION_MINUTES);
        if (context instanceof StandardContext standard) {
            // Tomcat would look for leaks of a reloaded application, by reflection that JDK 17 forbids.
            // Nothing is reloaded here: the context ends with its JVM.
            standard.setClearReferencesThreadLocals(false);
            standard.setClearReferencesRmiTargets(false);
        }
        servlets(context, catalog, seed);
    }

    private static void servlets(Context context, Catalog catalog, long seed) {
        // The empty pattern is the root alone; "/" takes whatever nobody else answers.
        map(context, "Home", new Home(catalog), "");
        map(context, "Browse", new Browse(catalog), "/browse");
        map(context, "BrowseCategories", new BrowseCategories(catalog), "/categories");
        map(context, "BrowseRegions", new BrowseRegions(catalog), "/regions");
        map(context, "Search", new Search(catalog), "/search");
        map(context, "ViewItem", new ViewItem(catalog), "/item");
        map(context, "ViewBidHistory", new ViewBidHistory(catalog), "/bids");
        map(context, "ViewUserInfo", new ViewUserInfo(catalog), "/user");
        map(context, "Static", new StaticFiles(seed), "/images/*", "/style.css", "/about.html");
        map(context, "NotFound", new ErrorPage(), "/");
    }

    private static void map(Context context, String name, HttpServlet servlet, String... paths) {
        Tomcat.addServlet(context, name, servlet);
        for (String path : paths) {
            context.addServletMapping(path, name);
        }
    }

    private Connector connector(int port, int threads) {
        String protocol = TOMCATS_OWN;
        for (var extension : extensions) {
            protocol = extension.protocol() == null ? protocol : extension.protocol();
        }
        var connector = new Connector(protocol);
        connector.setPort(port);
        connector.setThrowOnFailure(true);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", Integer.toString(threads));
        connector.setProperty("minSpareThreads", Integer.toString(Math.min(10, threads)));
        return connector;
    }

    private static Connector secure(Connector connector, KeyStore keyStore) {
        connector.setSecure(true);
        connector.setScheme("https");
        connector.setProperty("SSLEnabled", "true");
        var host = new SSLHostConfig();
        host.setProtocols("TLSv1.2+TLSv1.3");
        var certificate = new SSLHostConfigCertificate(host,
            keyStore.elliptic ? SSLHostConfigCertificate.Type.EC : SSLHostConfigCertificate.Type.RSA);
        certificate.setCertificateKeystoreFile(keyStore.file.toString());
        certificate.setCertificateKeystorePassword(keyStore.password);
        certificate.setCertificateKeyAlias(keyStore.alias);
        host.addCertificate(certificate);
        connector.addSslHostConfig(host);
        return connector;
    }

    /** Opens the ports. */
    public void start() throws LifecycleException, IOException {
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof BindException) {
                    throw new IOException("cannot listen: " + cause.getMessage() + ": choose another --port or --http-port", e);
                }
            }
            throw e;
        }
    }

    /** The port of HTTPS once started. */
    public int httpsPort() {
        return https.getLocalPort();
    }

    /** The port of plain HTTP once started, or -1. */
    public int httpPort() {
        return http == null ? -1 : http.getLocalPort();
    }

    /** Closes the ports, gives requests in progress two seconds, and ends all threads. */
    public void stop() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }
}
