package dev.loadline.guard.undertow;

import dev.loadline.guard.Mode;
import java.net.InetAddress;
import java.net.UnknownHostException;
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

/** Another context, whose engines are guarded: Undertow asks for one when it has accepted a connection, and says whose it is. */
final class GuardedSslContext extends SSLContext {
    GuardedSslContext(SSLContext tls, ConnectionGuard owner) {
        super(new Engines(tls, owner), tls.getProvider(), tls.getProtocol());
    }

    private static final class Engines extends SSLContextSpi {
        private final SSLContext tls;
        private final ConnectionGuard owner;

        Engines(SSLContext tls, ConnectionGuard owner) {
            this.tls = tls;
            this.owner = owner;
        }

        @Override
        protected void engineInit(KeyManager[] keys, TrustManager[] trust, SecureRandom random) {
            throw new IllegalStateException("loadline-guard: init the context that it was made of, before that");
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            return tls.createSSLEngine();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            SSLEngine made = tls.createSSLEngine(host, port);
            if (owner.guard().mode() == Mode.OFF) {
                return made;
            }
            try {
                // A literal: names are not looked up.
                InetAddress client = host == null ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host);
                return new GuardedEngine(made, client, port, owner);
            } catch (UnknownHostException | RuntimeException e) {
                owner.guard().failed(e);
                return made;
            }
        }

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            return tls.getSocketFactory();
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            return tls.getServerSocketFactory();
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return tls.getServerSessionContext();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return tls.getClientSessionContext();
        }

        @Override
        protected SSLParameters engineGetDefaultSSLParameters() {
            return tls.getDefaultSSLParameters();
        }

        @Override
        protected SSLParameters engineGetSupportedSSLParameters() {
            return tls.getSupportedSSLParameters();
        }
    }
}
