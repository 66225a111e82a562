package dev.loadline.chat;

import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;

/** TLS. Its tasks run on the caller's thread: a handshake holds up the other links of the loop. */
final class TlsCodec implements Codec {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SSLEngine engine;

    TlsCodec(SSLEngine engine) {
        this.engine = engine;
    }

    @Override
    public void begin() throws IOException {
        engine.beginHandshake();
    }

    @Override
    public boolean decode(ByteBuffer net, ByteBuffer scratch, Plain plain) throws IOException {
        while (true) {
            scratch.clear();
            SSLEngineResult result = engine.unwrap(net, scratch);
            tasks();
            if (result.bytesProduced() > 0) {
                plain.take(scratch.flip());
            }
            if (result.getStatus() == Status.CLOSED) {
                return false;
            }
            boolean idle = result.bytesConsumed() == 0 && result.bytesProduced() == 0;
            if (result.getStatus() == Status.BUFFER_UNDERFLOW || idle) {
                return true;
            }
        }
    }

    @Override
    public void encode(ByteBuffer plain, ByteBuffer net) throws IOException {
        while (true) {
            HandshakeStatus status = engine.getHandshakeStatus();
            boolean own = status == HandshakeStatus.NEED_WRAP;
            if (!own && (status == HandshakeStatus.NEED_UNWRAP || !plain.hasRemaining())) {
                return;
            }
            if (net.remaining() < engine.getSession().getPacketBufferSize()) {
                return;
            }
            SSLEngineResult result = engine.wrap(own ? NOTHING : plain, net);
            tasks();
            if (result.getStatus() != Status.OK) {
                return;
            }
        }
    }

    private void tasks() {
        while (engine.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                task.run();
            }
        }
    }
}
