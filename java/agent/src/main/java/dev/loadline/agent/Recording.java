package dev.loadline.agent;

import dev.loadline.agent.boot.Emit;
import dev.loadline.agent.boot.Faults;
import dev.loadline.agent.boot.MethodScope;
import dev.loadline.agent.boot.Native;
import dev.loadline.agent.boot.Rehearsal;
import dev.loadline.agent.boot.Session;
import dev.loadline.agent.hooks.Hooks;
import dev.loadline.agent.methods.MethodPlacer;
import dev.loadline.agent.probes.Probes;
import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.HashSet;
import java.util.Set;

/**
 * One recording, from attach to stop. What is started in one order is stopped in the other, also
 * when a start fails half way.
 *
 * <p>The server level comes from probes where there are any: the agent was there at start, or was
 * allowed to redefine classes. Otherwise it comes from hooks, which redefine none.
 */
final class Recording {
    private static final int MAX_EPOCH = 0x7FFF;
    private static final long OUTLAST_MS = 50;

    private static Recording current;
    private static int epochs;
    private static boolean loaded;
    /** The probes that are in place, dormant between recordings; null if there are none. */
    private static Probes woven;
    /** As long as there are probes, the application's copies of our API tell them, too. */
    private static AppLink linked;
    /** The same of the methods that were asked for. */
    private static MethodPlacer methods;

    private final Instrumentation instrumentation;
    private final SpoolHeader header;
    private final JvmInfo info;
    /** Lines that the header's message has. */
    private final Set<String> warned = new HashSet<>();
    private long address;
    private long size;
    private boolean restore;
    /** What of methods is recorded; null if nothing is. */
    private MethodScope calls;
    /** Whether methods were asked for, and none is recorded because no class may be redefined. */
    private boolean lacksMethods;
    /** Whether the threads that there were are known by the kernel's ids, too. */
    private boolean namesThreads;
    private Hooks hooks;
    private AppLink application;
    private GcNotifications collections;
    private Limits limits;
    private VmLog log;
    private int control = -1;

    private Recording(SpoolHeader header, Instrumentation instrumentation) {
        this.header = header;
        this.instrumentation = instrumentation;
        this.info = new JvmInfo(instrumentation);
    }

    /** Places probes, if there are none: into classes as they load, and into those that are loaded. */
    static synchronized void weave(Instrumentation instrumentation) {
        if (woven != null) {
            return;
        }
        try {
            BootClasses.define(instrumentation);
            Rehearsal.run();
            Probes probes = new Probes(instrumentation);
            probes.place();
            woven = probes;
            linked = AppLink.connect(instrumentation);
        } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError e) {
            System.err.println("loadline-agent: no probes: " + e);
        }
    }

    /** Places probes into the methods that these filters take, a line each: into classes as they load, and those that are loaded. */
    static synchronized void weaveMethods(String filters, Instrumentation instrumentation) {
        try {
            BootClasses.define(instrumentation);
            Rehearsal.run();
            if (methods == null) {
                methods = new MethodPlacer(instrumentation);
            }
            methods.place(filters);
        } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError e) {
            System.err.println("loadline-agent: no probes in methods: " + e);
        }
    }

    /**
     * Starts a recording into this directory; what goes wrong is told in the spool's header.
     *
     * @param early whether the program has not begun yet: placing probes redefines next to nothing then
     */
    static synchronized void start(String directory, Instrumentation instrumentation, boolean early) {
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
                if ((header.mode() & SpoolHeader.ONLY_ARM) != 0) {
                    recording.arm();
                } else {
                    recording.begin(directory, early);
                    current = recording;
                }
            } catch (Throwable e) {
                recording.undo();
                header.fail(e.getMessage() == null ? e.toString() : e.getMessage());
            }
        } catch (IOException e) {
            System.err.println("loadline-agent: " + header.file() + ": " + e.getMessage());
        }
    }

    /** Places the probes for recordings to come, or takes them out. */
    private void arm() throws IOException {
        header.state(SpoolHeader.STARTING);
        if ((header.mode() & SpoolHeader.RESTORE) != 0) {
            unweave();
        } else {
            weave(instrumentation);
            String wanted = MethodRequest.of(header).methods;
            if (!wanted.isEmpty()) {
                weaveMethods(wanted, instrumentation);
            }
            tellWarnings();
        }
        header.info(info.json(coverage()));
        header.state(SpoolHeader.STOPPED);
    }

    private static void unweave() {
        if (woven != null) {
            woven.remove();
            woven = null;
            linked.disconnect();
            linked = null;
        }
        if (methods != null) {
            methods.remove();
            methods = null;
        }
    }

    private void begin(String directory, boolean early) throws IOException, ReflectiveOperationException {
        header.state(SpoolHeader.STARTING);
        int levels = header.levels();
        int mode = header.mode();
        boolean server = (levels & SpoolHeader.LEVEL_SERVER) != 0;
        boolean app = (levels & SpoolHeader.LEVEL_APP) != 0;
        restore = (mode & SpoolHeader.RESTORE) != 0;
        BootClasses.define(instrumentation);
        if (!loaded) {
            Native.load(header.library());
            loaded = true;
        }
        control = Native.openControl(new File(directory, "agent.control").getPath());
        size = header.file().length();
        address = Native.map(header.file().getPath());
        epochs = epochs % MAX_EPOCH + 1;
        if (server && (mode & SpoolHeader.MAY_REDEFINE) != 0) {
            weave(instrumentation);
        }
        if (woven != null) {
            woven.onClassLoaded(info::classLoaded);
        } else if (server) {
            hooks = new Hooks(instrumentation, this::warn);
            hooks.refresh();
        }
        beginMethods(early || (mode & SpoolHeader.MAY_REDEFINE) != 0);
        if (app) {
            application = linked == null ? AppLink.connect(instrumentation) : linked;
            application.tell(this::warn);
        }
        header.begin(System.nanoTime());
        Session session = new Session(address, epochs, calls);
        Emit.to(session, server, app);
        if (server) {
            limits = new Limits(instrumentation, session.pools);
        }
        if ((levels & SpoolHeader.LEVEL_JVM) != 0) {
            String missing = Native.startEvents(address);
            if (missing != null) {
                warn(missing);
            }
            namesThreads = Native.namesThreads();
            collections = GcNotifications.start(this::warn);
            log = VmLog.start(new File(directory, "vm.log"), header.vmLog(), instrumentation, this::warn);
        }
        tellWarnings();
        header.info(info.json(coverage()));
        header.state(SpoolHeader.RECORDING);
        Thread thread = new Thread(null, this::awaitStop, "loadline control", 0, false); // inherits no thread-locals
        thread.setDaemon(true);
        thread.start();
    }

    /** Sees to the methods that are asked for, if any are. */
    private void beginMethods(boolean mayPlace) throws IOException {
        MethodRequest request = MethodRequest.of(header);
        if (request.methods.isEmpty()) {
            return;
        }
        if (mayPlace) {
            weaveMethods(request.methods, instrumentation);
        }
        if (methods == null) {
            lacksMethods = true;
            return;
        }
        if (!methods.covers(request.methods)) {
            warn("Methods are recorded as far as they have probes already: no loaded class is redefined for further ones.");
        }
        calls = request.scope();
    }

    /** Stops what was started. The spool is sealed last: until then, late writers still write into it. */
    private void undo() {
        if (loaded) {
            Native.stopEvents();
        }
        try {
            if (hooks != null) {
                hooks.remove();
                outlastRequests();
            }
        } finally {
            if (address != 0) {
                Emit.toNobody();
            }
        }
        if (collections != null) {
            collections.stop();
        }
        if (log != null) {
            log.stop();
        }
        if (application != null) {
            application.tell(unused -> {});
            if (application != linked) {
                application.disconnect();
            }
        }
        if (restore) {
            unweave();
        }
        if (calls != null && address != 0) {
            calls.tell();
        }
        if (address != 0) {
            Native.seal(address, size);
        }
        if (control >= 0) {
            Native.closeControl(control);
        }
    }

    /**
     * Gives requests that hooks saw begin the time that nearly all take. Attached late nothing was rehearsed: one that finds
     * the gates closed is the first that ever did, and the server's own methods that were compiled meanwhile, with ours in
     * them, would be thrown away.
     */
    private static void outlastRequests() {
        try {
            Thread.sleep(OUTLAST_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // then they are not waited for
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
                try {
                    tellInfo(); // a server may have appeared since the last tick
                    if (limits != null) {
                        limits.tell();
                    }
                } finally {
                    undo();
                }
            } catch (IOException | RuntimeException | Error e) {
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
        Native.drainSamples();
        if (calls != null) {
            calls.tell();
        }
        String faults = Faults.take();
        if (faults != null) {
            warn(faults);
        }
        if (hooks != null) {
            hooks.refresh();
        }
        if (limits != null) {
            limits.tick();
        }
        tellWarnings();
        try {
            tellInfo();
        } catch (IOException gone) {
            return; // as above
        }
    }

    private void tellInfo() throws IOException {
        String json = info.changed(coverage());
        if (json != null) {
            header.info(json);
        }
    }

    /** Where the server level comes from: JSON for the header's info. */
    private String coverage() {
        String server = woven != null ? "\"probes\"" : hooks != null ? hooks.coverage() : "null";
        return server + (lacksMethods ? ", \"lacks_methods\": true" : "") + (namesThreads ? ", \"names_threads\": true" : "");
    }

    private void tellWarnings() {
        if (woven != null) {
            woven.warnings().forEach(this::warn);
        }
        if (methods != null) {
            methods.warnings().forEach(this::warn);
        }
    }

    private void warn(String line) {
        if (!warned.add(line)) {
            return;
        }
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
