package dev.loadline.auction.web;

import java.nio.file.Path;
import java.util.List;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

/**
 * How the site listens: the only place where Tomcat's connectors are set up. All are bound to
 * 127.0.0.1.
 *
 * @param httpsPort 0 takes a free one
 * @param httpPort 0 takes a free one, -1 opens none
 * @param threads most worker threads
 * @param virtualThreads a virtual thread per request instead
 * @param http2 whether HTTP/2 is offered too
 * @param tls Tomcat's list of TLS versions, joined by +
 * @param keyStore the certificate
 * @param extensions see and may change each connector, in this order
 */
public record Connectors(int httpsPort, int httpPort, int threads, boolean virtualThreads, boolean http2, String tls,
                         KeyStore keyStore, List<ConnectorExtension> extensions) {
    private static final String TOMCATS_OWN = "org.apache.coyote.http11.Http11NioProtocol";
    private static final int MOST_SPARE_THREADS = 10;

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

    Connector https() {
        Connector connector = listening(httpsPort);
        connector.setSecure(true);
        connector.setScheme("https");
        connector.setProperty("SSLEnabled", "true");
        var host = new SSLHostConfig();
        host.setProtocols(tls);
        var certificate = new SSLHostConfigCertificate(host,
            keyStore.elliptic ? SSLHostConfigCertificate.Type.EC : SSLHostConfigCertificate.Type.RSA);
        certificate.setCertificateKeystoreFile(keyStore.file.toString());
        certificate.setCertificateKeystorePassword(keyStore.password);
        certificate.setCertificateKeyAlias(keyStore.alias);
        host.addCertificate(certificate);
        connector.addSslHostConfig(host);
        return extended(connector);
    }

    /** Null if there is to be none. */
    Connector http() {
        return httpPort < 0 ? null : extended(listening(httpPort));
    }

    private Connector listening(int port) {
        String protocol = TOMCATS_OWN;
        for (var extension : extensions) {
            protocol = extension.protocol() == null ? protocol : extension.protocol();
        }
        var connector = new Connector(protocol);
        connector.setPort(port);
        connector.setThrowOnFailure(true);
        connector.setURIEncoding("UTF-8");
        connector.setProperty("address", "127.0.0.1");
        if (virtualThreads) {
            connector.setProperty("useVirtualThreads", "true");
        } else {
            connector.setProperty("maxThreads", Integer.toString(threads));
            connector.setProperty("minSpareThreads", Integer.toString(Math.min(MOST_SPARE_THREADS, threads)));
        }
        if (http2) {
            connector.addUpgradeProtocol(new Http2Protocol());
        }
        return connector;
    }

    private Connector extended(Connector connector) {
        extensions.forEach(extension -> extension.extend(connector));
        return connector;
    }
}
