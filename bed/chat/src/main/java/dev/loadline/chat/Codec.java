package dev.loadline.chat;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Between frames and what goes over a connection. Used by one thread only. */
interface Codec {
    /** Takes plain bytes as they appear. */
    interface Plain {
        /** {@code bytes} are ready to be read; what is not read is lost. */
        void take(ByteBuffer bytes) throws IOException;
    }

    /** Has to be called first; then {@link #encode} may have something to send. */
    void begin() throws IOException;

    /**
     * Decodes from {@code net}, and leaves there what is not whole yet.
     *
     * @param scratch room for plain bytes
     * @return false if the other end has said that no more will come
     */
    boolean decode(ByteBuffer net, ByteBuffer scratch, Plain plain) throws IOException;

    /** Encodes from {@code plain} as much as fits into {@code net}, and what the protocol itself has to say. */
    void encode(ByteBuffer plain, ByteBuffer net) throws IOException;
}
