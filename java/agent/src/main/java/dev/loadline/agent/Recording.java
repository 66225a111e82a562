package dev.loadline.agent;

import dev.loadline.agent.boot.Emit;
import dev.loadline.agent.boot.Faults;
import dev.loadline.agent.boot.Native;
import dev.loadline.agent.boot.Session;
import dev.loadline.agent.probes.Probes;
import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;

/**
 * One recording, from attach to stop. What is started in one order is stopped in the other, also
 * when a start fails half way.
 */
final class Recording {
    private static final int MAX_EPOCH = 0x7FFF;

    private static Recording current;
    private static int epochs;
    private static boolean loaded;

    private final Instrumentation instrumentation;
    private final SpoolHeader header;
    private final JvmInfo info;
    private long address;
    private long size;
    private Probes probes;
    private GcNotifications collections;
    private int control = -1;

    private Recording(SpoolHeader header, Instrumentation instrumentation) {
        this.header = header;
        this.instrumentation = instrumentation;
        this.info = new JvmInfo(instrumentation);
    }

    /** Starts a recording into this directory; what goes wrong is told in the spool's header. */
    static synchronized void start(String directory, Instrumentation instrumentation) {
        SpoolHeader header;
        try {
            header = SpoolHeader.open(new File(directory, "agent.events"));
        } catch (IOException e) {
            System.err.println("loadline-agent: " + e.getMessage());
            return;
        }
        try {
            if (current != null) {
                header.fail("already being recorded by pid " + current.recorder());
                return;
            }
            Recording recording = new Recording(header, instrumentation);
            try {
                recording.begin(directory);
                current = recording;
            } catch (Throwable e) {
                recording.undo();
                header.fail(e.getMessage() == null ? e.toString() : e.getMessage());
            }
        } catch (IOException e) {
            System.err.println("loadline-agent: " + header.file() + ": " + e.getMessage());
        }
    }

    private void begin(String directory) throws IOException, ReflectiveOperationException {
        header.state(SpoolHeader.STARTING);
        int levels = header.levels();
        BootClasses.define(instrumentation);
        if (!loaded) {
            Native.load(header.library());
            loaded = true;
        }
        control = Native.openControl(new File(directory, "agent.control").getPath());
        size = header.file().length();
        address = Native.map(header.file().getPath());
        epochs = epochs % MAX_EPOCH + 1;
        probes = new Probes(instrumentation, levels, this::warn, info::classLoaded);
        probes.place();
        header.info(info.json());
        header.begin(System.nanoTime());
        Emit.to(new Session(address, epochs));
        if ((levels & SpoolHeader.LEVEL_JVM) != 0) {
            String missing = Native.startEvents(address);
            if (missing != null) {
                warn(missing);
            }
            collections = GcNotifications.start(this::warn);
        }
        header.state(SpoolHeader.RECORDING);
        Thread thread = new Thread(null, this::awaitStop, "loadline control", 0, false); // inherits no thread-locals
        thread.setDaemon(true);
        thread.start();
    }

    /** Stops what was started. The spool is sealed last: until then, late writers still write into it. */
    private void undo() {
        if (loaded) {
            Native.stopEvents();
        }
        if (address != 0) {
            Emit.to(null);
        }
        if (collections != null) {
            collections.stop();
        }
        if (probes != null) {
            probes.remove();
        }
        if (address != 0) {
            Native.seal(address, size);
        }
        if (control >= 0) {
            Native.closeControl(control);
        }
    }

    private void awaitStop() {
        try {
            Control.await(control, this::tick);
        } finally {
            end();
        }
    }

    private void end() {
        synchronized (Recording.class) {
            long end = System.nanoTime();
            try {
                undo();
            } catch (RuntimeException | Error e) {
                warn("the recording did not end cleanly: " + e);
            } finally {
                current = null;
            }
            try {
                header.end(end);
                header.state(SpoolHeader.STOPPED);
            } catch (IOException gone) {
                // The recorder died and its directory was removed: nobody is left to tell.
                return;
            }
        }
    }

    private void tick() {
        String faults = Faults.take();
        if (faults != null) {
            warn(faults);
        }
        String json = info.changed();
        if (json != null) {
            try {
                header.info(json);
            } catch (IOException gone) {
                return; // as above
            }
        }
    }

    private void warn(String line) {
        try {
            header.warn(line);
        } catch (IOException e) {
            System.err.println("loadline-agent: " + line + " (and cannot write this into the spool: " + e.getMessage() + ")");
        }
    }

    private String recorder() throws IOException {
        int pid = header.recorderPid();
        return pid == 0 ? "(in another pid namespace)" : Integer.toString(pid);
    }
}
