package dev.loadline.auction.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;

/**
 * A directory of this run alone: the keystore and Tomcat's own files. Deleted by {@link #close}, and
 * when the JVM is told to end before anybody could call that (SIGTERM while the site starts).
 */
public final class WorkDir implements AutoCloseable {
    private final Path path;
    private final Thread atExit = new Thread(this::deleteAtExit, "auction-work-dir");
    private boolean deleted;

    /** Makes a fresh directory below {@code parent}, or below the system's temporary directory. */
    public WorkDir(Path parent) throws IOException {
        Path where = parent == null ? Path.of(System.getProperty("java.io.tmpdir")) : parent;
        path = where.resolve("auction-" + ProcessHandle.current().pid() + "-" + UUID.randomUUID());
        Files.createDirectories(where);
        // First the hook, then the directory: a signal may come between any two instructions.
        Runtime.getRuntime().addShutdownHook(atExit);
        create();
    }

    /** The directory. */
    public Path path() {
        return path;
    }

    private synchronized void create() throws IOException {
        if (deleted) {
            throw new IOException("told to end while starting");
        }
        // The key lies here: nobody else may look.
        Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    private void deleteAtExit() {
        try {
            delete();
        } catch (IOException e) {
            System.err.println("auction: could not delete " + path + ": " + e.getMessage());
        }
    }

    @Override
    public void close() throws IOException {
        delete();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is ending: the hook runs, and finds nothing left to do.
        }
    }

    /** Synchronized, because at the end of the JVM two hooks may come here. */
    private synchronized void delete() throws IOException {
        deleted = true;
        Trees.delete(path);
    }
}
