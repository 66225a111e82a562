package dev.loadline.guardbench.attack;

import dev.loadline.guard.hello.ClientHello;
import dev.loadline.guard.hello.ClientHelloReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Makes hellos from a captured one: its claim, its random and its session id are new each time, all else
 * stays. To the server each is a well-formed claim that it has never seen.
 */
final class Forgery {
    private static final int RANDOM_AT = 5 + 4 + 2;
    private static final int RANDOM_LENGTH = 32;

    private final byte[] template;
    private final int claimAt;
    private final int claimLength;
    private final SplittableRandom random;

    /** @param hex a file of hex lines; those that begin with # are skipped */
    Forgery(Path hex, long seed) throws IOException {
        random = new SplittableRandom(seed);
        template = HexFormat.of().parseHex(Files.readAllLines(hex).stream().filter(l -> !l.startsWith("#")).collect(Collectors.joining()));
        var reader = new ClientHelloReader();
        if (reader.feed(ByteBuffer.wrap(template)) != ClientHelloReader.Status.HELLO) {
            throw new IOException(hex + " holds no hello: " + reader.status());
        }
        ClientHello hello = reader.hello();
        byte[] claim = hello.claim();
        claimLength = claim == null ? 0 : claim.length;
        claimAt = claim == null ? 0 : indexOf(template, claim);
    }

    ByteBuffer next() {
        byte[] hello = template.clone();
        fill(hello, RANDOM_AT, RANDOM_LENGTH);
        fill(hello, RANDOM_AT + RANDOM_LENGTH + 1, hello[RANDOM_AT + RANDOM_LENGTH]);
        fill(hello, claimAt, claimLength);
        return ByteBuffer.wrap(hello);
    }

    private void fill(byte[] bytes, int from, int length) {
        for (int i = from; i < from + length; i++) {
            bytes[i] = (byte) random.nextInt(256);
        }
    }

    private static int indexOf(byte[] in, byte[] what) {
        for (int i = 0; i + what.length <= in.length; i++) {
            if (Arrays.equals(in, i, i + what.length, what, 0, what.length)) {
                return i;
            }
        }
        throw new IllegalStateException("a claim that is not in its hello");
    }
}
