package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.hooks.RecordedEngine;
import java.security.KeyManagementException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.TrustManager;
import org.apache.tomcat.util.net.SSLContext;
import org.apache.tomcat.util.net.SSLUtil;

/** A certificate's context, whose engines tell of their handshakes. */
final class RecordedContext implements SSLContext {
    final SSLContext context;

    RecordedContext(SSLContext context) {
        this.context = context;
    }

    @Override
    public SSLEngine createSSLEngine() {
        SSLEngine engine = context.createSSLEngine();
        return engine instanceof SSLUtil.ProtocolInfo ? engine : new RecordedEngine(engine); // asked for its class
    }

    @Override
    public void init(KeyManager[] keys, TrustManager[] trusted, SecureRandom random) throws KeyManagementException {
        context.init(keys, trusted, random);
    }

    @Override
    public void destroy() {
        context.destroy();
    }

    @Override
    public SSLSessionContext getServerSessionContext() {
        return context.getServerSessionContext();
    }

    @Override
    public SSLServerSocketFactory getServerSocketFactory() {
        return context.getServerSocketFactory();
    }

    @Override
    public SSLParameters getSupportedSSLParameters() {
        return context.getSupportedSSLParameters();
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return context.getCertificateChain(alias);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return context.getAcceptedIssuers();
    }
}
