package dev.loadline.agent;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Consumer;

/**
 * Lets the JVM write into the recording's directory what it does itself: a line for each safepoint, and what else is asked for. No
 * interface tells of safepoints, and those that tell of the rest cost more (a recording of JFR's, begun inside, redefines classes of
 * the JDK on Java 17); the JVM's own log does, and can be asked for more while it runs, as by {@code jcmd PID VM.log}. What the
 * program's owner has logged stays as it is.
 */
final class VmLog {
    static final int LOG_GC_PHASES = 1;
    static final int LOG_COMPILATIONS = 2;
    static final int LOG_DEOPTIMIZATIONS = 4;
    static final int LOG_CLASS_LOADS = 8;

    private static final String COMMANDS = "com.sun.management.internal.DiagnosticCommandImpl";

    /** What can be asked for: its bit, what it is called, and what it is in the log's terms. */
    private enum Subject {
        GC_PHASES(LOG_GC_PHASES, "phases of garbage collections", "gc=info,gc+phases=info,gc+marking=info"),
        COMPILATIONS(LOG_COMPILATIONS, "compilations", "jit+compilation=debug"),
        // JDK 17 has no such tag: compiled code that is given up is in the log of compilations.
        DEOPTIMIZATIONS(LOG_DEOPTIMIZATIONS, "deoptimizations", "deoptimization=debug", "jit+compilation=debug"),
        CLASS_LOADS(LOG_CLASS_LOADS, "loaded classes", "class+load=info");

        private final int bit;
        private final String name;
        /** The first that this JVM knows is taken. */
        private final String[] selections;

        Subject(int bit, String name, String... selections) {
            this.bit = bit;
            this.name = name;
            this.selections = selections;
        }
    }

    private final Object commands;
    private final Method execute;
    private final String output;
    private boolean begun;

    private VmLog(Object commands, Method execute, File file) {
        this.commands = commands;
        this.execute = execute;
        this.output = "VM.log output=\"file=" + file.getPath() + "\" what=";
    }

    /** Begins, with these bits' subjects; null where there is no file for it, or, with a warning, where the JVM does not do so. */
    static VmLog start(File file, int wanted, Instrumentation instrumentation, Consumer<String> warn) {
        if (!file.canWrite()) {
            return null; // the recorder is older, or does not want it
        }
        try {
            Class<?> type = Class.forName(COMMANDS);
            Modules.open(instrumentation, type, VmLog.class.getModule());
            Method instance = type.getDeclaredMethod("getDiagnosticCommandMBean");
            Method execute = type.getDeclaredMethod("executeDiagnosticCommand", String.class);
            instance.setAccessible(true);
            execute.setAccessible(true);
            VmLog log = new VmLog(instance.invoke(null), execute, file);
            if (!log.tells("safepoints", warn, "safepoint=info")) {
                return null;
            }
            for (Subject subject : Subject.values()) {
                if ((wanted & subject.bit) != 0) {
                    log.tells(subject.name, warn, subject.selections);
                }
            }
            return log;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            warn.accept("safepoints are not recorded: " + e);
            return null;
        }
    }

    /** Asks for something more; false, with a warning, if this JVM does not log it. */
    private boolean tells(String name, Consumer<String> warn, String... selections) throws ReflectiveOperationException {
        String said = "";
        for (String selection : selections) {
            // Times by the clock of System.nanoTime. The first time makes the file, which does not rotate; later ones may not say so.
            String how = "\" decorators=timenanos,tid,tags" + (begun ? "" : " output_options=filecount=0");
            said = tell("\"" + selection + how);
            begun = true;
            if (said.isEmpty()) {
                return true;
            }
        }
        warn.accept(name + " are not recorded: " + said);
        return false;
    }

    /** Ends: the JVM closes the file, and logs what it did before. */
    void stop() {
        try {
            tell("all=off");
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // the same call as before
        }
    }

    /** What the JVM says to it: nothing, if all is well. */
    private String tell(String what) throws ReflectiveOperationException {
        try {
            return String.valueOf(execute.invoke(commands, output + what)).trim();
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException refused) {
                throw refused;
            }
            throw e;
        }
    }
}
