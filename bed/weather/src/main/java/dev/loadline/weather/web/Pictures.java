package dev.loadline.weather.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.UUID;
import java.util.stream.Stream;

/** Pictures on disk, from the page that shows them until they are fetched: the newest of them, older ones are deleted. */
final class Pictures implements AutoCloseable {
    private static final String NAME = "[0-9a-f]{32}";

    private final Path folder;
    private final int most;
    private final ArrayDeque<Path> kept = new ArrayDeque<>();

    /** Keeps so many, in a new folder. */
    Pictures(int most) throws IOException {
        this.most = most;
        folder = Files.createTempDirectory("weather-");
    }

    Path folder() {
        return folder;
    }

    /** Stores one; gives its name. */
    String store(byte[] picture) throws IOException {
        String name = UUID.randomUUID().toString().replace("-", "");
        Path file = folder.resolve(name);
        Files.write(file, picture);
        Path oldest = null;
        synchronized (kept) {
            kept.addLast(file);
            if (kept.size() > most) {
                oldest = kept.removeFirst();
            }
        }
        if (oldest != null) {
            Files.deleteIfExists(oldest);
        }
        return name;
    }

    /** Reads one; null if there is none of that name, or no more. */
    byte[] read(String name) throws IOException {
        if (!name.matches(NAME)) {
            return null;
        }
        try {
            return Files.readAllBytes(folder.resolve(name));
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Deletes all, and whatever the web server has left in the folder. */
    @Override
    public void close() throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(folder)) {
            for (Path path : tree.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
