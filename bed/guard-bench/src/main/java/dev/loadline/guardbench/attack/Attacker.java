package dev.loadline.guardbench.attack;

import dev.loadline.guardbench.Options;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Opens connections at a rate, whatever becomes of them, from the addresses 127.1.0.1 to 127.1.0.200, and
 * prints one JSON line of what came of it. {@code --mode hello} sends a hello forged from
 * {@code --template}, {@code garbage} random bytes, {@code http} a plain request, {@code slow} a forged
 * hello byte by byte, one each {@code --drip-ms}. It leaves when the server says something or closes, or
 * after {@code --patience} seconds.
 */
public final class Attacker {
    private static final long SWEEP_NS = 5_000_000;
    private static final int ADDRESSES = 200;
    private static final int TLS_HANDSHAKE = 22;

    private final Selector selector = Selector.open();
    private final InetSocketAddress server;
    private final String mode;
    private final long dripNs;
    private final long patienceNs;
    private final Forgery forgery;
    private final SplittableRandom random = new SplittableRandom(1);
    private final ByteBuffer inbox = ByteBuffer.allocate(16_384);
    private long opened;
    private long answered;
    private long refused;
    private long failed;
    private long patienceLost;
    private long sweptNs;

    /** One connection under way. */
    private static final class Victim {
        private final long begunNs = System.nanoTime();
        private ByteBuffer out;
        private long nextNs;
    }

    private Attacker(Options options) throws IOException {
        server = new InetSocketAddress(InetAddress.getLoopbackAddress(), options.number("port", 0));
        mode = options.text("mode", "hello");
        dripNs = options.number("drip-ms", 1_000) * 1_000_000L;
        patienceNs = options.number("patience", 10) * 1_000_000_000L;
        forgery = options.has("template") ? new Forgery(Path.of(options.text("template", "")), 1) : null;
    }

    public static void main(String[] args) throws Exception {
        var options = new Options(args, "port", "mode", "rate", "seconds", "count", "drip-ms", "patience", "template");
        new Attacker(options).run(options.number("rate", 100), options.number("seconds", 10), options.number("count", Integer.MAX_VALUE));
    }

    private void run(int rate, int seconds, int count) throws IOException {
        long begin = System.nanoTime();
        long end = begin + seconds * 1_000_000_000L;
        long stepNs = 1_000_000_000L / rate;
        while (true) {
            long now = System.nanoTime();
            // The rate holds also when a step came late: what was missed is made up.
            while (now < end && opened < count && begin + opened * stepNs <= now) {
                open();
            }
            if ((now >= end || opened >= count) && selector.keys().isEmpty() || now >= end + patienceNs) {
                break;
            }
            selector.select(1 + Math.min(10, stepNs / 2_000_000));
            for (SelectionKey key : selector.selectedKeys()) {
                turn(key);
            }
            selector.selectedKeys().clear();
            everyoneElse();
        }
        for (SelectionKey key : selector.keys()) {
            patienceLost++;
            key.channel().close();
        }
        selector.close();
        double took = (System.nanoTime() - begin) / 1e9;
        System.out.printf("{\"opened\": %d, \"answered\": %d, \"refused\": %d, \"failed\": %d, \"patience_lost\": %d, \"per_s\": %.1f}%n",
            opened, answered, refused, failed, patienceLost, opened / Math.min(took, seconds));
    }

    private void open() {
        opened++;
        try {
            SocketChannel channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.bind(new InetSocketAddress("127.1.0." + (1 + random.nextInt(ADDRESSES)), 0));
            var victim = new Victim();
            victim.out = content();
            channel.register(selector, SelectionKey.OP_CONNECT, victim);
            channel.connect(server);
        } catch (IOException e) {
            failed++;
        }
    }

    private ByteBuffer content() {
        return switch (mode) {
            case "hello", "slow" -> forgery.next();
            case "garbage" -> {
                byte[] bytes = new byte[200];
                random.nextBytes(bytes);
                yield ByteBuffer.wrap(bytes);
            }
            case "http" -> ByteBuffer.wrap("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            default -> throw new IllegalArgumentException("--mode " + mode + ": hello, slow, garbage or http");
        };
    }

    private void turn(SelectionKey key) throws IOException {
        var channel = (SocketChannel) key.channel();
        var victim = (Victim) key.attachment();
        try {
            if (key.isConnectable()) {
                channel.finishConnect();
                key.interestOps(SelectionKey.OP_READ);
                send(channel, victim);
            } else if (key.isReadable()) {
                inbox.clear();
                int got = channel.read(inbox);
                if (got > 0 && inbox.get(0) == TLS_HANDSHAKE) {
                    answered++;
                } else {
                    refused++;
                }
                channel.close();
            }
        } catch (IOException e) {
            // A reset is how some servers refuse.
            refused++;
            channel.close();
        }
    }

    private void send(SocketChannel channel, Victim victim) throws IOException {
        if (!mode.equals("slow")) {
            channel.write(victim.out);
            return;
        }
        int limit = victim.out.limit();
        channel.write(victim.out.limit(victim.out.position() + 1));
        victim.out.limit(limit);
        victim.nextNs = System.nanoTime() + dripNs;
    }

    /** The next byte of those that are slow; the end of those that have waited enough. */
    private void everyoneElse() throws IOException {
        long now = System.nanoTime();
        if (now - sweptNs < SWEEP_NS) {
            return;
        }
        sweptNs = now;
        for (SelectionKey key : selector.keys()) {
            var victim = (Victim) key.attachment();
            var channel = (SocketChannel) key.channel();
            try {
                if (!key.isValid()) {
                    continue;
                }
                if (victim.nextNs > 0 && now >= victim.nextNs && victim.out.hasRemaining()) {
                    send(channel, victim);
                } else if (!mode.equals("slow") && now - victim.begunNs > patienceNs) {
                    patienceLost++;
                    channel.close();
                }
            } catch (IOException e) {
                refused++;
                channel.close();
            }
        }
    }
}
