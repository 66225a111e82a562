package dev.loadline.bed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Tells whoever started a site which port it listens on. */
public final class PortFile {
    private PortFile() {
    }

    /** Writes the port and a line feed. Whoever polls the file sees it whole or not at all. */
    public static void write(Path file, int port) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        Files.writeString(part, port + "\n");
        Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
