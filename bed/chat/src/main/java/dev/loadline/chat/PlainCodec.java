package dev.loadline.chat;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Nothing between. */
final class PlainCodec implements Codec {
    @Override
    public void begin() {
        // Nothing to agree on.
    }

    @Override
    public boolean decode(ByteBuffer net, ByteBuffer scratch, Plain plain) throws IOException {
        plain.take(net);
        net.position(net.limit());
        return true;
    }

    @Override
    public void encode(ByteBuffer plain, ByteBuffer net) {
        int count = Math.min(plain.remaining(), net.remaining());
        net.put(plain.slice(plain.position(), count));
        plain.position(plain.position() + count);
    }
}
