package dev.loadline.guard.hello;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * First bytes of connections, committed as hex: in {@code corpus} those of real clients, captured by
 * bench/lib/capture-hellos, each with the expectation in its head; in {@code fuzz.txt} what the fuzzer found
 * worth keeping, a line each, without expectation.
 */
record Corpus(String name, Kind expected, byte[] bytes) {

    @Override
    public String toString() {
        return name;
    }

    static List<Corpus> captured() {
        try (Stream<Path> files = Files.list(resource("corpus"))) {
            return files.sorted().map(Corpus::parse).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Corpus> fuzzed() {
        try {
            List<String> lines = Files.readAllLines(resource("fuzz.txt"));
            return IntStream.range(0, lines.size())
                .mapToObj(i -> new Corpus("fuzz.txt:" + (i + 1), null, HexFormat.of().parseHex(lines.get(i)))).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path resource(String name) {
        try {
            return Path.of(Corpus.class.getResource(name).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Corpus parse(Path file) {
        Kind expected = null;
        var hex = new StringBuilder();
        try {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith("# expect ")) {
                    expected = Kind.valueOf(line.substring("# expect ".length()));
                } else if (!line.startsWith("#")) {
                    hex.append(line);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Corpus(file.getFileName().toString().replace(".hex", ""), expected, HexFormat.of().parseHex(hex));
    }
}
