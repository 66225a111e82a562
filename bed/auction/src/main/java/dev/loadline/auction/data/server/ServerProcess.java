package dev.loadline.auction.data.server;

import dev.loadline.auction.files.Trees;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The process of a private database server and its directory, both of this run alone.
 *
 * <p>Terms: the <em>account</em> is who the server runs as; database servers refuse root, so a site
 * that root started runs them as their own unprivileged user.
 *
 * <p>What always holds: the server ends when this JVM ends, however it ends: a shell beside it
 * waits for the end of a pipe that only this JVM holds. {@link #close}, and an orderly end of the
 * JVM, delete the directory as well; after another end that shell does, whose account may leave it empty
 * where it may not write to what it lies in.
 */
final class ServerProcess implements AutoCloseable {
    private static final int STOP_SECONDS = 10;
    /** For how many tenths of a second the shell waits for the server's end before it deletes what is left. */
    private static final int WATCH_TENTHS = 100;
    /**
     * $1 is the signal that ends the server at once, $2 its directory; the rest is its command. The data is thrown
     * away, so none need be saved. Who was killed cannot delete: the shell does.
     */
    private static final String WATCHED = """
        signal=$1; dir=$2; shift 2
        exec 3<&0
        (read -r _ <&3
         read -r _ _ _ parent _ </proc/self/stat
         [ "$parent" = $$ ] && kill -s "$signal" $$
         for i in $(seq %d); do kill -0 $$ 2>/dev/null || break; sleep 0.1; done
         cd / && rm -rf -- "$dir") &
        exec setsid "$@" 3<&- </dev/null
        """.formatted(WATCH_TENTHS);

    private final String account;
    private final Path dir;
    private final Thread atExit = new Thread(this::closeAtExit, "auction-database-stop");
    private Process running;
    private boolean closed;

    /**
     * Makes the directory.
     *
     * @param name part of the directory's name
     * @param parent where it is made; null for the system's temporary directory
     * @param accounts who may run the server if root started the site: the first of them that exists
     */
    ServerProcess(String name, Path parent, String... accounts) throws IOException, InterruptedException {
        account = isRoot() ? firstExisting(accounts) : null;
        Path where = (parent == null ? Path.of(System.getProperty("java.io.tmpdir")) : parent).toAbsolutePath();
        dir = where.resolve("auction-" + ProcessHandle.current().pid() + "-" + name + "-" + UUID.randomUUID());
        Files.createDirectories(where);
        Runtime.getRuntime().addShutdownHook(atExit);
        synchronized (this) {
            mustBeOpen();
            Files.createDirectory(dir, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            if (account != null) {
                Files.setOwner(dir, FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(account));
            }
        }
        if (account != null && !reachable()) {
            close();
            throw new IOException("the user " + account + ", who runs the database server, may not enter " + where
                + ": choose another --work (the default is the system's temporary directory)");
        }
    }

    Path dir() {
        return dir;
    }

    /** Writes a file that the account alone may read. */
    Path write(String name, String text) throws IOException {
        Path file = Files.createFile(dir.resolve(name),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, text);
        if (account != null) {
            Files.setOwner(file, Files.getOwner(dir));
        }
        return file;
    }

    private boolean reachable() throws IOException, InterruptedException {
        return new ProcessBuilder(as(List.of("test", "-w", dir.toString()))).start().waitFor() == 0;
    }

    private static boolean isRoot() throws IOException {
        return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    }

    private static String firstExisting(String... accounts) throws IOException {
        for (String name : accounts) {
            try {
                FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(name);
                return name;
            } catch (java.nio.file.attribute.UserPrincipalNotFoundException e) {
                // The next one, then.
            }
        }
        throw new IOException("a database server refuses to run as root, and there is no user "
            + String.join(" or ", accounts) + ": run the site as an ordinary user");
    }

    /** The command as the account runs it. */
    private List<String> as(List<String> command) throws IOException, InterruptedException {
        if (account == null) {
            return command;
        }
        var id = new ProcessBuilder("id", "-g", account).start();
        String group = new String(id.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
        if (id.waitFor() != 0) {
            throw new IOException("id -g " + account + " failed");
        }
        var whole = new ArrayList<>(List.of("setpriv", "--reuid=" + account, "--regid=" + group, "--init-groups", "--"));
        whole.addAll(command);
        return whole;
    }

    /** Runs a command to its end. */
    void run(String... command) throws IOException, InterruptedException {
        Process process = launch("setup", List.of(command));
        process.getOutputStream().close();
        int status = process.waitFor();
        if (status != 0) {
            throw new IOException(command[0] + " ended with " + status + ": " + tail("setup"));
        }
    }

    /** Starts the server; {@code signal} ends it at once. */
    void serve(String signal, String... command) throws IOException, InterruptedException {
        var watched = new ArrayList<>(List.of("sh", "-c", WATCHED, "watch", signal, dir.toString()));
        watched.addAll(List.of(command));
        launch("server", watched);
    }

    private synchronized Process launch(String log, List<String> command) throws IOException, InterruptedException {
        mustBeOpen();
        var builder = new ProcessBuilder(as(command)).directory(dir.toFile()).redirectErrorStream(true)
            .redirectOutput(dir.resolve(log + ".log").toFile());
        builder.environment().put("HOME", dir.toString());
        builder.environment().put("LC_ALL", "C");
        running = builder.start();
        return running;
    }

    private void mustBeOpen() throws IOException {
        if (closed) {
            throw new IOException("told to end while starting the database server");
        }
    }

    /** Fails, with the server's last words, if it has ended. */
    void mustBeAlive() throws IOException {
        if (!running.isAlive()) {
            throw new IOException("the database server ended with " + running.exitValue() + ": " + tail("server"));
        }
    }

    String tail(String log) throws IOException {
        List<String> lines = Files.readAllLines(dir.resolve(log + ".log"), StandardCharsets.ISO_8859_1);
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 8), lines.size()));
    }

    /** A port that nobody listens on. Somebody may take it before the server does: then the server says so. */
    static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** From now on {@link #close} is called in time, also at the JVM's end: the site first, then its database. */
    void closedByCaller() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is ending already.
        }
    }

    private void closeAtExit() {
        try {
            stopAndDelete();
        } catch (IOException e) {
            System.err.println("auction: could not delete " + dir + ": " + e.getMessage());
        }
    }

    @Override
    public void close() throws IOException {
        stopAndDelete();
        closedByCaller();
    }

    private synchronized void stopAndDelete() throws IOException {
        closed = true;
        if (running != null) {
            var family = new ArrayList<>(running.descendants().toList());
            family.add(running.toHandle());
            try {
                // End of file tells the shell beside the server to end it.
                running.getOutputStream().close();
                if (!running.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                    running.destroyForcibly();
                }
                for (var member : family) {
                    for (int i = 0; i < 100 && member.isAlive(); i++) {
                        Thread.sleep(10);
                    }
                    member.destroyForcibly();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        running = null;
        Trees.delete(dir);
    }
}
