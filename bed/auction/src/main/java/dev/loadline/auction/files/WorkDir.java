package dev.loadline.auction.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * A directory of this run alone: the keystore and Tomcat's own files. Deleted by {@link #close}, and
 * when the JVM is told to end before anybody could call that (SIGTERM while the site starts). Who is
 * killed cannot delete; the next one who makes such a directory does, as the lock in it is free then.
 */
public final class WorkDir implements AutoCloseable {
    private static final String LOCK = "lock";
    /** Only what this class made is ever deleted: other folders may begin like it and hold a file of that name. */
    private static final Pattern NAME = Pattern.compile("auction-\\d+-\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");
    /** Those of this JVM. Even looking at the lock of one would release it: POSIX. */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final Thread atExit = new Thread(this::deleteAtExit, "auction-work-dir");
    private FileChannel lock;
    private boolean deleted;

    /** Makes a fresh directory below {@code parent}, or below the system's temporary directory. */
    public WorkDir(Path parent) throws IOException {
        Path where = (parent == null ? Path.of(System.getProperty("java.io.tmpdir")) : parent).toAbsolutePath();
        path = where.resolve("auction-" + ProcessHandle.current().pid() + "-" + UUID.randomUUID());
        Files.createDirectories(where);
        deleteLeft(where);
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
        OWN.add(path);
        // The key lies here: nobody else may look.
        Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        // Locked before it has its name: a lock that is seen is held, or its site is gone.
        Path unnamed = path.resolve("lock.new");
        lock = FileChannel.open(unnamed, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        lock.lock();
        Files.move(unnamed, path.resolve(LOCK));
    }

    /** Deletes what sites that were killed have left. */
    private static void deleteLeft(Path where) throws IOException {
        try (var found = Files.newDirectoryStream(where, "auction-*")) {
            for (Path dir : found) {
                try {
                    if (NAME.matcher(dir.getFileName().toString()).matches() && !OWN.contains(dir) && isLeft(dir.resolve(LOCK))) {
                        Trees.delete(dir);
                    }
                } catch (IOException e) {
                    System.err.println("auction: could not delete " + dir + ", left by a site that was killed: " + e.getMessage());
                }
            }
        }
    }

    private static boolean isLeft(Path lock) throws IOException {
        if (!Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS) || !Files.isWritable(lock)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE); FileLock held = channel.tryLock()) {
            return held != null;
        }
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
        if (lock != null) {
            lock.close();
        }
        OWN.remove(path);
    }
}
