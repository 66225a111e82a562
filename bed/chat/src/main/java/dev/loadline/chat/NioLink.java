package dev.loadline.chat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/** A link of an event loop. Only the loop's thread touches what is not a queue or atomic. */
final class NioLink implements Link {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final EventLoop loop;
    private final SocketChannel channel;
    private final Handler handler;
    private final Codec codec;
    private final Queue<Frame> toSend = new ConcurrentLinkedQueue<>();
    /** Whether the loop knows that there is something to send. */
    private final AtomicBoolean flushing = new AtomicBoolean();
    private SelectionKey key;
    private boolean over;
    /** What came and is no whole record yet; what was decoded and is no whole frame; what was encoded and not sent; what was taken and not encoded. */
    private ByteBuffer netRest = NOTHING;
    private ByteBuffer plainRest = NOTHING;
    private ByteBuffer outRest = NOTHING;
    private ByteBuffer frameRest = NOTHING;

    NioLink(EventLoop loop, SocketChannel channel, Handler handler, Codec codec) {
        this.loop = loop;
        this.channel = channel;
        this.handler = handler;
        this.codec = codec;
    }

    SocketChannel channel() {
        return channel;
    }

    @Override
    public void send(Frame frame) {
        toSend.add(frame);
        if (flushing.compareAndSet(false, true)) {
            loop.execute(this::flush);
        }
    }

    @Override
    public void close() {
        loop.execute(() -> end(null));
    }

    void fail(Exception why) {
        end(why);
    }

    void registered(SelectionKey with) {
        key = with;
        try {
            codec.begin();
            flush();
        } catch (IOException e) {
            end(e);
        }
    }

    /** The selector says that something can be read or written. */
    void ready() {
        if (key.isValid() && key.isWritable()) {
            flush();
        }
        if (key.isValid() && key.isReadable()) {
            read();
        }
    }

    private void read() {
        try {
            ByteBuffer net = loop.net.clear().put(netRest);
            int read = channel.read(net);
            net.flip();
            boolean more;
            boolean progress;
            // In a handshake what came may have to wait until an answer is sent.
            do {
                int before = net.remaining();
                more = codec.decode(net, loop.plain, this::frames);
                boolean sent = flush();
                progress = sent || net.remaining() < before;
            } while (more && progress && net.hasRemaining());
            netRest = kept(net);
            if (read < 0 || !more) {
                end(null);
            }
        } catch (IOException | RuntimeException e) {
            end(e);
        }
    }

    private void frames(ByteBuffer plain) throws IOException {
        ByteBuffer all = plain;
        if (plainRest.hasRemaining()) {
            all = ByteBuffer.allocate(plainRest.remaining() + plain.remaining()).put(plainRest).put(plain).flip();
        }
        for (Frame frame = Frame.read(all); frame != null && !over; frame = Frame.read(all)) {
            handler.received(this, frame);
        }
        plainRest = kept(all);
    }

    /** Sends as much as the connection takes, and says whether that was anything. */
    private boolean flush() {
        flushing.set(false);
        if (over || key == null) {
            return false;
        }
        boolean sent = false;
        try {
            ByteBuffer out = loop.out.clear().put(outRest);
            outRest = NOTHING;
            while (true) {
                fill(out);
                if (out.position() == 0) {
                    break;
                }
                sent |= channel.write(out.flip()) > 0;
                if (out.hasRemaining()) {
                    outRest = kept(out);
                    break;
                }
                out.clear();
            }
            boolean more = outRest.hasRemaining();
            key.interestOps(more ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        } catch (IOException | RuntimeException e) {
            end(e);
        }
        return sent;
    }

    /** Encodes frames until the buffer is full or none is left. */
    private void fill(ByteBuffer out) throws IOException {
        while (true) {
            int before = out.position();
            codec.encode(frameRest, out);
            if (frameRest.hasRemaining()) {
                return; // full, or a handshake comes first
            }
            Frame frame = toSend.poll();
            if (frame == null) {
                frameRest = NOTHING;
                if (out.position() == before) {
                    return;
                }
            } else {
                frameRest = ByteBuffer.wrap(frame.bytes());
            }
        }
    }

    private static ByteBuffer kept(ByteBuffer rest) {
        return rest.hasRemaining() ? ByteBuffer.allocate(rest.remaining()).put(rest).flip() : NOTHING;
    }

    private void end(Exception why) {
        if (over) {
            return;
        }
        over = true;
        try {
            channel.close();
        } catch (IOException e) {
            // It is over either way; the handler hears why it ended, not how closing went.
        }
        handler.closed(this, why);
    }
}
