package dev.loadline.agent.hooks.undertow;

import dev.loadline.agent.boot.ServerProbes;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BiFunction;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

/**
 * An engine that tells of its first handshake, and otherwise is the one that it stands before.
 *
 * <p>A handshake was a full one if its session is as young as the engine: a resumed session keeps
 * the time of its creation on every JDK, with every version of TLS and kind of ticket. Engines
 * other than the JDK's may not keep it: see {@link dev.loadline.agent.boot.Resumption}.
 */
class RecordedEngine extends SSLEngine {
    private final SSLEngine engine;
    private final long createdMillis = System.currentTimeMillis();
    private boolean done;

    RecordedEngine(SSLEngine engine) {
        super(engine.getPeerHost(), engine.getPeerPort());
        this.engine = engine;
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer target) throws SSLException {
        if (done) {
            return engine.wrap(sources, offset, length, target);
        }
        ServerProbes.engineShakesHands(engine);
        try {
            return told(engine.wrap(sources, offset, length, target));
        } catch (SSLException | RuntimeException e) {
            failed();
            throw e;
        }
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer source, ByteBuffer[] targets, int offset, int length) throws SSLException {
        if (done) {
            return engine.unwrap(source, targets, offset, length);
        }
        ServerProbes.engineShakesHands(engine);
        try {
            return told(engine.unwrap(source, targets, offset, length));
        } catch (SSLException | RuntimeException e) {
            failed();
            throw e;
        }
    }

    /** Whether nothing more is told of. */
    protected final boolean isDone() {
        return done;
    }

    private SSLEngineResult told(SSLEngineResult result) {
        if (result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.FINISHED) {
            done = true;
            ServerProbes.engineIsDone(true, engine.getSession(), createdMillis);
        }
        return result;
    }

    private void failed() {
        done = true;
        ServerProbes.engineIsDone(false, false);
    }

    // What follows only delegates.

    @Override
    public Runnable getDelegatedTask() {
        return engine.getDelegatedTask();
    }

    @Override
    public void closeInbound() throws SSLException {
        engine.closeInbound();
    }

    @Override
    public boolean isInboundDone() {
        return engine.isInboundDone();
    }

    @Override
    public void closeOutbound() {
        engine.closeOutbound();
    }

    @Override
    public boolean isOutboundDone() {
        return engine.isOutboundDone();
    }

    @Override
    public String getPeerHost() {
        return engine.getPeerHost();
    }

    @Override
    public int getPeerPort() {
        return engine.getPeerPort();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return engine.getSupportedCipherSuites();
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return engine.getEnabledCipherSuites();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        engine.setEnabledCipherSuites(suites);
    }

    @Override
    public String[] getSupportedProtocols() {
        return engine.getSupportedProtocols();
    }

    @Override
    public String[] getEnabledProtocols() {
        return engine.getEnabledProtocols();
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
        engine.setEnabledProtocols(protocols);
    }

    @Override
    public SSLSession getSession() {
        return engine.getSession();
    }

    @Override
    public SSLSession getHandshakeSession() {
        return engine.getHandshakeSession();
    }

    @Override
    public void beginHandshake() throws SSLException {
        engine.beginHandshake();
    }

    @Override
    public SSLEngineResult.HandshakeStatus getHandshakeStatus() {
        return engine.getHandshakeStatus();
    }

    @Override
    public void setUseClientMode(boolean mode) {
        engine.setUseClientMode(mode);
    }

    @Override
    public boolean getUseClientMode() {
        return engine.getUseClientMode();
    }

    @Override
    public void setNeedClientAuth(boolean need) {
        engine.setNeedClientAuth(need);
    }

    @Override
    public boolean getNeedClientAuth() {
        return engine.getNeedClientAuth();
    }

    @Override
    public void setWantClientAuth(boolean want) {
        engine.setWantClientAuth(want);
    }

    @Override
    public boolean getWantClientAuth() {
        return engine.getWantClientAuth();
    }

    @Override
    public void setEnableSessionCreation(boolean flag) {
        engine.setEnableSessionCreation(flag);
    }

    @Override
    public boolean getEnableSessionCreation() {
        return engine.getEnableSessionCreation();
    }

    @Override
    public SSLParameters getSSLParameters() {
        return engine.getSSLParameters();
    }

    @Override
    public void setSSLParameters(SSLParameters parameters) {
        engine.setSSLParameters(parameters);
    }

    @Override
    public String getApplicationProtocol() {
        return engine.getApplicationProtocol();
    }

    @Override
    public String getHandshakeApplicationProtocol() {
        return engine.getHandshakeApplicationProtocol();
    }

    @Override
    public void setHandshakeApplicationProtocolSelector(BiFunction<SSLEngine, List<String>, String> selector) {
        // The selector is shown the engine that its owner knows.
        engine.setHandshakeApplicationProtocolSelector(
                selector == null ? null : (its, protocols) -> selector.apply(this, protocols));
    }

    @Override
    public BiFunction<SSLEngine, List<String>, String> getHandshakeApplicationProtocolSelector() {
        return engine.getHandshakeApplicationProtocolSelector();
    }
}
