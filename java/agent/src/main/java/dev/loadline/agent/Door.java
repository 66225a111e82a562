package dev.loadline.agent;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Where recorders come in if the agent was there at start: a socket of its own, {@code /tmp/.loadline-PID/door}, in a folder that
 * only the JVM's user and root can enter. So nothing is loaded into a JVM that runs, of which it warns from Java 21 on and which it
 * may have been told to refuse, and its attach mechanism may be switched off.
 *
 * <p>A caller says the directory of its recording, and ends the line. It is answered with a line that it was heard, so that it need
 * not wait long for a JVM that does not run, and, when its recording has begun or failed, which its spool tells, with another.
 */
final class Door {
    private static final String DOOR = "door";
    private static final String UNOPENED = DOOR + ".new";
    private static final int LONGEST = 4_096;

    private final Instrumentation instrumentation;
    private final Path folder;
    private final Path door;
    private boolean isMade;
    private boolean isClosed;

    Door(Path folder, Instrumentation instrumentation) {
        this.folder = folder;
        this.door = folder.resolve(DOOR);
        this.instrumentation = instrumentation;
    }

    /** Opens it beside the program's start. Where it cannot be, recorders attach as to any JVM. */
    static void open(Instrumentation instrumentation) {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent(); // the program sees its own threads only
        }
        Thread thread = new Thread(group, () -> {
            Path folder = Path.of("/tmp/.loadline-" + ProcessHandle.current().pid());
            new Door(folder, instrumentation).serve();
        }, "loadline door", 0, false);
        thread.setDaemon(true);
        thread.start();
    }

    private void serve() {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            // First: a program that is over already refuses this, and nothing has been made yet.
            Runtime.getRuntime().addShutdownHook(new Thread(null, this::close, "loadline door's end", 0, false));
            Callers callers = new Callers(server, instrumentation);
            if (!open(server)) {
                return;
            }
            for (;;) {
                FileDescriptor caller = callers.next();
                // A caller that says nothing keeps no other waiting.
                Thread answering = new Thread(null, () -> answer(caller), "loadline door's caller", 0, false);
                answering.setDaemon(true);
                answering.start();
            }
        } catch (IOException | ReflectiveOperationException | RuntimeException unavailable) {
            return; // as said above
        }
    }

    /** False if it cannot be, or need not be any more. */
    synchronized boolean open(ServerSocketChannel server) throws IOException {
        if (isClosed || !prepare(folder)) {
            return false;
        }
        isMade = true;
        // A bound socket refuses callers until it listens, so it is moved to its place when it does.
        Path unopened = folder.resolve(UNOPENED);
        server.bind(UnixDomainSocketAddress.of(unopened));
        Files.move(unopened, door, StandardCopyOption.ATOMIC_MOVE);
        return true;
    }

    /** Makes the folder, or takes that of a JVM of the same user and id that is dead; false if it is somebody's. */
    static boolean prepare(Path folder) throws IOException {
        if (Files.notExists(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return true;
        }
        boolean ours = Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                && Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        Path door = folder.resolve(DOOR);
        if (!ours || isServed(door)) {
            return false;
        }
        empty(folder);
        return true;
    }

    /** Whether somebody answers there: a JVM with the same id in another namespace, which has the same /tmp. */
    private static boolean isServed(Path door) {
        try (SocketChannel other = SocketChannel.open(UnixDomainSocketAddress.of(door))) {
            return other.isConnected();
        } catch (IOException dead) {
            return false;
        }
    }

    private static void empty(Path folder) throws IOException {
        Files.deleteIfExists(folder.resolve(DOOR));
        Files.deleteIfExists(folder.resolve(UNOPENED)); // of a JVM that ended as it opened
    }

    synchronized void close() {
        isClosed = true;
        if (!isMade) {
            return;
        }
        try {
            empty(folder);
            Files.deleteIfExists(folder);
        } catch (IOException left) {
            return; // a folder that is empty or whose socket is dead: the next JVM with this id takes it
        }
    }

    private void answer(FileDescriptor caller) {
        try (FileInputStream from = new FileInputStream(caller);
                FileOutputStream to = new FileOutputStream(caller)) {
            byte[] said = new byte[LONGEST];
            int length = 0;
            while (length == 0 || said[length - 1] != '\n') {
                int more = from.read(said, length, LONGEST - length);
                if (more <= 0) {
                    return; // gone, or nothing that a recorder says
                }
                length += more;
            }
            say(to, "heard"); // or it has given up, and its recording is no more
            Recording.start(new String(said, 0, length - 1, StandardCharsets.UTF_8), instrumentation, false);
            say(to, "done");
        } catch (IOException gone) {
            return; // its spool is how it learns of its recording
        }
    }

    private static void say(FileOutputStream to, String word) throws IOException {
        to.write((word + "\n").getBytes(StandardCharsets.US_ASCII));
    }
}
