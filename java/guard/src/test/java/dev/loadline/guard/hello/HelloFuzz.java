package dev.loadline.guard.hello;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;

/**
 * Looks for an input on which the reader throws, contradicts itself when the input is cut elsewhere,
 * holds too much, or disagrees with {@link PlainReading}. Inputs with an outcome of a shape not seen before
 * are kept and mutated further.
 *
 * <p>As a program: {@code HelloFuzz CPU_SECONDS SEED FILE} runs so long and writes what is worth keeping into
 * FILE, such as src/test/resources/dev/loadline/guard/hello/fuzz.txt; what is there already it begins from.
 */
public final class HelloFuzz {
    private static final int MOST_HELD = ClientHelloReader.DEFAULT_MAX_BYTES + 5 * (ClientHelloReader.MAX_RECORDS + 1);
    private static final int MOST_KEPT = 2_000;

    private final Mutator mutator;
    private final List<byte[]> inputs = new ArrayList<>();
    private final Set<String> shapes = new HashSet<>();
    private final List<byte[]> kept = new ArrayList<>();
    private final ClientHelloReader reused = new ClientHelloReader();

    HelloFuzz(long seed) {
        mutator = new Mutator(seed);
        for (Corpus c : Corpus.captured()) {
            seed(c.bytes());
        }
        for (Corpus c : Corpus.fuzzed()) {
            seed(c.bytes());
        }
    }

    private void seed(byte[] bytes) {
        inputs.add(bytes);
        shapes.add(shape(check(bytes)));
    }

    /** Tries so many inputs. */
    void run(int times) {
        for (int i = 0; i < times; i++) {
            byte[] input = mutator.next(inputs);
            String shape = shape(check(input));
            if (shapes.add(shape) && kept.size() < MOST_KEPT) {
                kept.add(input);
                inputs.add(input);
            }
        }
    }

    List<byte[]> kept() {
        return kept;
    }

    /** Throws an AssertionError that holds the input if a property does not. */
    ClientHelloReader check(byte[] input) {
        var whole = new ClientHelloReader();
        try {
            var in = ByteBuffer.wrap(input);
            whole.feed(in);
            Outcome outcome = Outcome.of(whole);
            require(whole.held() <= MOST_HELD, "holds " + whole.held() + " bytes", input);
            require(in.position() == outcome.taken(), "took " + in.position() + ", kept " + outcome.taken(), input);
            Outcome cut = cut(input);
            require(outcome.equals(cut), "whole " + outcome + ", cut " + cut, input);
            String plain = PlainReading.of(input);
            require(agrees(whole, plain), "plainly " + plain + ", but " + outcome, input);
        } catch (RuntimeException e) {
            throw new AssertionError("threw on " + HexFormat.of().formatHex(input), e);
        }
        return whole;
    }

    private Outcome cut(byte[] input) {
        reused.reset();
        int most = 1 + mutator.below(Math.max(1, input.length));
        for (int at = 0; at < input.length; ) {
            int n = Math.min(input.length - at, 1 + mutator.below(most));
            reused.feed(ByteBuffer.wrap(input, at, n));
            at += n;
        }
        return Outcome.of(reused);
    }

    /** The plain reading gives up at once where the reader waits for more to name what it is. */
    private static boolean agrees(ClientHelloReader reader, String plain) {
        return switch (reader.status()) {
            case HELLO -> plain.equals(reader.hello().kind(true) + " " + reader.hello().kind(false));
            case NOT_TLS -> plain.equals("NOT_TLS");
            case NEED_MORE -> plain.equals("NEED_MORE")
                || plain.equals("NOT_TLS") && reader.taken().hasRemaining() && reader.taken().get(0) != 22;
        };
    }

    private static void require(boolean holds, String what, byte[] input) {
        if (!holds) {
            throw new AssertionError(what + ": " + HexFormat.of().formatHex(input));
        }
    }

    /** What makes an outcome interesting: not its figures, but their order of magnitude. */
    private static String shape(ClientHelloReader r) {
        ClientHello h = r.hello();
        int size = Integer.SIZE - Integer.numberOfLeadingZeros(r.taken().remaining());
        return h == null ? r.status() + " " + r.notTls() + " " + size
            : h.kind(true) + " " + h.kind(false) + " " + h.tls13Offered() + " " + h.earlyData() + " " + (h.sni() != null)
                + " " + Math.min(3, h.alpn().size()) + " " + Math.min(4, h.pskIdentities()) + " " + Math.min(3, h.records()) + " " + size;
    }

    /** Of the inputs with outcomes alike but for their size, the smallest. */
    private List<byte[]> worthKeeping() {
        var smallest = new LinkedHashMap<String, byte[]>();
        for (List<byte[]> some : List.of(inputs, kept)) {
            for (byte[] input : some) {
                String shape = shape(check(input));
                smallest.merge(shape.substring(0, shape.lastIndexOf(' ')), input, (a, b) -> b.length < a.length ? b : a);
            }
        }
        return List.copyOf(smallest.values());
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 3) {
            System.err.println("usage: HelloFuzz CPU_SECONDS SEED FILE");
            System.exit(2);
        }
        var cpu = ManagementFactory.getThreadMXBean();
        long most = Long.parseLong(args[0]) * 1_000_000_000L;
        var fuzz = new HelloFuzz(Long.parseLong(args[1]));
        long tried = 0;
        while (cpu.getCurrentThreadCpuTime() < most) {
            fuzz.run(10_000);
            tried += 10_000;
        }
        List<byte[]> worth = fuzz.worthKeeping();
        Files.write(Path.of(args[2]), worth.stream().map(HexFormat.of()::formatHex).sorted().toList());
        System.out.println("tried " + tried + " inputs in " + args[0] + " CPU s; " + fuzz.kept().size() + " outcomes of new shape, "
            + worth.size() + " inputs kept; every property held");
    }
}
