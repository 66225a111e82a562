package dev.loadline.guard.undertow;

import java.security.Principal;
import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionContext;

/** A session as JSSE has it, which tells the connection that it is of: Undertow shows a request's session, and not its engine. */
final class GuardedSession extends ExtendedSSLSession {
    private static final String[] NONE = {};

    private final SSLSession session;
    private final GuardedEngine engine;

    GuardedSession(SSLSession session, GuardedEngine engine) {
        this.session = session;
        this.engine = engine;
    }

    GuardedEngine engine() {
        return engine;
    }

    @Override
    public String[] getLocalSupportedSignatureAlgorithms() {
        return session instanceof ExtendedSSLSession extended ? extended.getLocalSupportedSignatureAlgorithms() : NONE;
    }

    @Override
    public String[] getPeerSupportedSignatureAlgorithms() {
        return session instanceof ExtendedSSLSession extended ? extended.getPeerSupportedSignatureAlgorithms() : NONE;
    }

    @Override
    public List<SNIServerName> getRequestedServerNames() {
        return session instanceof ExtendedSSLSession extended ? extended.getRequestedServerNames() : List.of();
    }

    @Override
    public List<byte[]> getStatusResponses() {
        return session instanceof ExtendedSSLSession extended ? extended.getStatusResponses() : List.of();
    }

    @Override
    public byte[] getId() {
        return session.getId();
    }

    @Override
    public SSLSessionContext getSessionContext() {
        return session.getSessionContext();
    }

    @Override
    public long getCreationTime() {
        return session.getCreationTime();
    }

    @Override
    public long getLastAccessedTime() {
        return session.getLastAccessedTime();
    }

    @Override
    public void invalidate() {
        session.invalidate();
    }

    @Override
    public boolean isValid() {
        return session.isValid();
    }

    @Override
    public void putValue(String name, Object value) {
        session.putValue(name, value);
    }

    @Override
    public Object getValue(String name) {
        return session.getValue(name);
    }

    @Override
    public void removeValue(String name) {
        session.removeValue(name);
    }

    @Override
    public String[] getValueNames() {
        return session.getValueNames();
    }

    @Override
    public Certificate[] getPeerCertificates() throws SSLPeerUnverifiedException {
        return session.getPeerCertificates();
    }

    @Override
    public Certificate[] getLocalCertificates() {
        return session.getLocalCertificates();
    }

    @Override
    public Principal getPeerPrincipal() throws SSLPeerUnverifiedException {
        return session.getPeerPrincipal();
    }

    @Override
    public Principal getLocalPrincipal() {
        return session.getLocalPrincipal();
    }

    @Override
    public String getCipherSuite() {
        return session.getCipherSuite();
    }

    @Override
    public String getProtocol() {
        return session.getProtocol();
    }

    @Override
    public String getPeerHost() {
        return session.getPeerHost();
    }

    @Override
    public int getPeerPort() {
        return session.getPeerPort();
    }

    @Override
    public int getPacketBufferSize() {
        return session.getPacketBufferSize();
    }

    @Override
    public int getApplicationBufferSize() {
        return session.getApplicationBufferSize();
    }
}
