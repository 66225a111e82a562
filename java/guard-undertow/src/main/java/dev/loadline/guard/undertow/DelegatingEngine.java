package dev.loadline.guard.undertow;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BiFunction;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

/** Does what another engine does. */
abstract class DelegatingEngine extends SSLEngine {
    final SSLEngine tls;

    DelegatingEngine(SSLEngine tls, String host, int port) {
        super(host, port);
        this.tls = tls;
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer to) throws SSLException {
        return tls.wrap(sources, offset, length, to);
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer from, ByteBuffer[] to, int offset, int length) throws SSLException {
        return tls.unwrap(from, to, offset, length);
    }

    @Override
    public Runnable getDelegatedTask() {
        return tls.getDelegatedTask();
    }

    @Override
    public void closeInbound() throws SSLException {
        tls.closeInbound();
    }

    @Override
    public boolean isInboundDone() {
        return tls.isInboundDone();
    }

    @Override
    public void closeOutbound() {
        tls.closeOutbound();
    }

    @Override
    public boolean isOutboundDone() {
        return tls.isOutboundDone();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return tls.getSupportedCipherSuites();
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return tls.getEnabledCipherSuites();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        tls.setEnabledCipherSuites(suites);
    }

    @Override
    public String[] getSupportedProtocols() {
        return tls.getSupportedProtocols();
    }

    @Override
    public String[] getEnabledProtocols() {
        return tls.getEnabledProtocols();
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
        tls.setEnabledProtocols(protocols);
    }

    @Override
    public SSLSession getSession() {
        return tls.getSession();
    }

    @Override
    public SSLSession getHandshakeSession() {
        return tls.getHandshakeSession();
    }

    @Override
    public void beginHandshake() throws SSLException {
        tls.beginHandshake();
    }

    @Override
    public SSLEngineResult.HandshakeStatus getHandshakeStatus() {
        return tls.getHandshakeStatus();
    }

    @Override
    public void setUseClientMode(boolean client) {
        tls.setUseClientMode(client);
    }

    @Override
    public boolean getUseClientMode() {
        return tls.getUseClientMode();
    }

    @Override
    public void setNeedClientAuth(boolean need) {
        tls.setNeedClientAuth(need);
    }

    @Override
    public boolean getNeedClientAuth() {
        return tls.getNeedClientAuth();
    }

    @Override
    public void setWantClientAuth(boolean want) {
        tls.setWantClientAuth(want);
    }

    @Override
    public boolean getWantClientAuth() {
        return tls.getWantClientAuth();
    }

    @Override
    public void setEnableSessionCreation(boolean creates) {
        tls.setEnableSessionCreation(creates);
    }

    @Override
    public boolean getEnableSessionCreation() {
        return tls.getEnableSessionCreation();
    }

    @Override
    public SSLParameters getSSLParameters() {
        return tls.getSSLParameters();
    }

    @Override
    public void setSSLParameters(SSLParameters parameters) {
        tls.setSSLParameters(parameters);
    }

    @Override
    public String getApplicationProtocol() {
        return tls.getApplicationProtocol();
    }

    @Override
    public String getHandshakeApplicationProtocol() {
        return tls.getHandshakeApplicationProtocol();
    }

    @Override
    public void setHandshakeApplicationProtocolSelector(BiFunction<SSLEngine, List<String>, String> selector) {
        tls.setHandshakeApplicationProtocolSelector(selector);
    }

    @Override
    public BiFunction<SSLEngine, List<String>, String> getHandshakeApplicationProtocolSelector() {
        return tls.getHandshakeApplicationProtocolSelector();
    }
}
