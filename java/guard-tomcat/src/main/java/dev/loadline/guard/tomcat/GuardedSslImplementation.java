package dev.loadline.guard.tomcat;

import java.security.KeyManagementException;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.TrustManager;
import org.apache.tomcat.util.net.SSLContext;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.apache.tomcat.util.net.SSLUtil;
import org.apache.tomcat.util.net.jsse.JSSEImplementation;
import org.apache.tomcat.util.net.jsse.JSSEUtil;

/** Tomcat's JSSE, whose engines can be told to resume only. Also good for a reloaded certificate. */
public class GuardedSslImplementation extends JSSEImplementation {
    @Override
    public SSLUtil getSSLUtil(SSLHostConfigCertificate certificate) {
        return new JSSEUtil(certificate) {
            @Override
            public SSLContext createSSLContextInternal(List<String> protocols) throws NoSuchAlgorithmException {
                return new Guarded(super.createSSLContextInternal(protocols));
            }
        };
    }

    private record Guarded(SSLContext context) implements SSLContext {
        @Override
        public void init(KeyManager[] keys, TrustManager[] trust, SecureRandom random) throws KeyManagementException {
            context.init(keys, trust, random);
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
        public SSLEngine createSSLEngine() {
            return EngineWish.apply(context.createSSLEngine());
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
}
