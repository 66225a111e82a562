package dev.loadline.agent.hooks.undertow;

import dev.loadline.agent.boot.HandshakeProbes;
import dev.loadline.agent.hooks.Fields;
import io.undertow.protocols.ssl.UndertowXnioSsl;
import io.undertow.server.AbstractServerConnection;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.xnio.StreamConnection;
import org.xnio.ssl.SslConnection;

/** One whose handshake may come before there is a connection: it stands for the socket. */
final class EarlyEngine extends RecordedEngine {
    private final InetSocketAddress peer;

    /** What stands for a connection: one of these, if it has one, perhaps behind Undertow's own; else itself. */
    static Object of(AbstractServerConnection connection) {
        StreamConnection socket = connection.getChannel();
        SSLEngine engine = socket instanceof SslConnection ? UndertowXnioSsl.getSslEngine((SslConnection) socket) : null;
        try {
            if (engine != null && engine.getClass().getName().startsWith("io.undertow.")) {
                engine = (SSLEngine) Fields.get(engine, "delegate");
            }
        } catch (ReflectiveOperationException | RuntimeException otherVersion) {
            return connection; // two connections are told, then
        }
        return engine instanceof EarlyEngine ? engine : connection;
    }

    EarlyEngine(SSLEngine engine) {
        super(engine);
        String host = engine.getPeerHost();
        peer = host == null ? null : InetSocketAddress.createUnresolved(host, engine.getPeerPort());
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer target) throws SSLException {
        if (isDone() || getUseClientMode()) {
            return super.wrap(sources, offset, length, target);
        }
        long visit = HandshakeProbes.stepBegin(this, peer, null);
        try {
            return super.wrap(sources, offset, length, target);
        } finally {
            end(visit);
        }
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer source, ByteBuffer[] targets, int offset, int length) throws SSLException {
        if (isDone() || getUseClientMode()) {
            return super.unwrap(source, targets, offset, length);
        }
        long visit = HandshakeProbes.stepBegin(this, peer, null);
        try {
            return super.unwrap(source, targets, offset, length);
        } finally {
            end(visit);
        }
    }

    private void end(long visit) {
        if (isDone()) {
            HandshakeProbes.lastStepEnd(visit, true); // what became of it is told already
        } else {
            HandshakeProbes.stepEnd(visit);
        }
    }

    @Override
    public Runnable getDelegatedTask() {
        Runnable task = super.getDelegatedTask();
        return task == null || isDone() || getUseClientMode() ? task : () -> {
            long visit = HandshakeProbes.stepBegin(this, peer, null);
            try {
                task.run();
            } finally {
                HandshakeProbes.stepEnd(visit);
            }
        };
    }

    @Override
    public void closeInbound() throws SSLException {
        HandshakeProbes.closed(this);
        super.closeInbound();
    }
}
