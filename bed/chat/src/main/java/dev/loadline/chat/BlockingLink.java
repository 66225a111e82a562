package dev.loadline.chat;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A link whose two threads wait: one for bytes, one for frames to send. */
final class BlockingLink implements Link {
    private static final int BUFFER = 4_096;
    /** Tells the sending thread to end. */
    private static final Frame END = Frame.joined();

    private final Socket socket;
    private final Handler handler;
    private final Consumer<BlockingLink> ended;
    private final BlockingQueue<Frame> toSend = new LinkedBlockingQueue<>();
    private final AtomicBoolean over = new AtomicBoolean();

    BlockingLink(Socket socket, Handler handler, Consumer<BlockingLink> ended) {
        this.socket = socket;
        this.handler = handler;
        this.ended = ended;
    }

    @Override
    public void send(Frame frame) {
        if (!over.get()) {
            toSend.add(frame);
        }
    }

    @Override
    public void close() {
        end(null);
    }

    /** The reading thread. */
    void readAll() {
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
        try {
            InputStream in = socket.getInputStream();
            while (true) {
                int read = in.read(buffer.array(), buffer.position(), buffer.remaining());
                if (read < 0) {
                    end(null);
                    return;
                }
                buffer.position(buffer.position() + read).flip();
                for (Frame frame = Frame.read(buffer); frame != null; frame = Frame.read(buffer)) {
                    handler.received(this, frame);
                }
                buffer.compact();
                if (!buffer.hasRemaining()) {
                    buffer = ByteBuffer.allocate(Frame.LONGEST + BUFFER).put(buffer.flip());
                }
            }
        } catch (IOException | RuntimeException e) {
            end(e);
        }
    }

    /** The sending thread. */
    void sendAll() {
        try {
            OutputStream out = new BufferedOutputStream(socket.getOutputStream(), BUFFER);
            while (true) {
                Frame frame = toSend.poll();
                if (frame == null) {
                    out.flush();
                    frame = toSend.take();
                }
                if (frame == END) {
                    return;
                }
                out.write(frame.bytes());
            }
        } catch (IOException | RuntimeException e) {
            end(e);
        } catch (InterruptedException e) {
            end(null);
        }
    }

    private void end(Exception why) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        toSend.add(END);
        ended.accept(this);
        try {
            socket.close();
        } catch (IOException e) {
            // It is over either way; the handler hears why it ended, not how closing went.
        }
        handler.closed(this, why);
    }
}
