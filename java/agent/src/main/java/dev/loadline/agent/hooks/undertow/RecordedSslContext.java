package dev.loadline.agent.hooks.undertow;

import java.security.SecureRandom;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;

/** Another one, whose engines tell of their handshakes. */
final class RecordedSslContext extends SSLContext {
    /** The JDK's, and Elytron's, which stand before those. OpenSSL's must stay what they are: Undertow asks for their class. */
    private static final String[] REPLACEABLE = {"sun.security.ssl.", "org.wildfly.security.ssl."};

    final SSLContext context;
    private final Engines engines;

    RecordedSslContext(SSLContext context) {
        this(context, new Engines(context));
    }

    private RecordedSslContext(SSLContext context, Engines engines) {
        super(engines, context.getProvider(), context.getProtocol());
        this.context = context;
        this.engines = engines;
    }

    /** Whether an engine could not be replaced. */
    boolean missesSome() {
        return engines.missesSome;
    }

    private static final class Engines extends SSLContextSpi {
        private final SSLContext context;
        private volatile boolean missesSome;

        Engines(SSLContext context) {
            this.context = context;
        }

        private SSLEngine recorded(SSLEngine engine) {
            for (String replaceable : REPLACEABLE) {
                if (engine.getClass().getName().startsWith(replaceable)) {
                    return new EarlyEngine(engine);
                }
            }
            missesSome = true;
            return engine;
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            return recorded(context.createSSLEngine());
        }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            return recorded(context.createSSLEngine(host, port));
        }

        // What follows only delegates.

        @Override
        protected void engineInit(KeyManager[] keys, TrustManager[] trust, SecureRandom random) {
            throw new IllegalStateException("it is initialized"); // as every context that a server has
        }

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            return context.getSocketFactory();
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            return context.getServerSocketFactory();
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return context.getServerSessionContext();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return context.getClientSessionContext();
        }

        @Override
        protected SSLParameters engineGetDefaultSSLParameters() {
            return context.getDefaultSSLParameters();
        }

        @Override
        protected SSLParameters engineGetSupportedSSLParameters() {
            return context.getSupportedSSLParameters();
        }
    }
}
