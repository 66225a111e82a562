package dev.loadline.auction;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory of this run alone: the keystore and Tomcat's own files. Deleted by {@link #close}. */
final class WorkDir implements AutoCloseable {
    private final Path path;

    /** Makes a fresh directory below {@code parent}, or below the system's temporary directory. */
    WorkDir(Path parent) throws IOException {
        if (parent == null) {
            path = Files.createTempDirectory("auction-");
        } else {
            Files.createDirectories(parent);
            path = Files.createTempDirectory(parent, "auction-");
        }
    }

    Path path() {
        return path;
    }

    @Override
    public void close() throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        Files.walkFileTree(path, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path dir, IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                Files.delete(dir);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
