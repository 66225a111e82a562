package dev.loadline.agent;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Consumer;

/**
 * Lets the JVM write a line for each safepoint into the recording's directory: when it was, how long, and
 * for what. No interface tells of safepoints; the JVM's own log does, and can be asked for more while it
 * runs, as by {@code jcmd PID VM.log}. What the program's owner has logged stays as it is.
 */
final class SafepointLog {
    private static final String COMMANDS = "com.sun.management.internal.DiagnosticCommandImpl";

    private final Object commands;
    private final Method execute;
    private final String output;

    private SafepointLog(Object commands, Method execute, File file) {
        this.commands = commands;
        this.execute = execute;
        this.output = "VM.log output=\"file=" + file.getPath() + "\" what=";
    }

    /** Begins; null where there is no file for it, or, with a warning, where the JVM does not do so. */
    static SafepointLog start(File file, Instrumentation instrumentation, Consumer<String> warn) {
        if (!file.canWrite()) {
            return null; // the recorder is older, or does not want it
        }
        try {
            Class<?> type = Class.forName(COMMANDS);
            Modules.open(instrumentation, type, SafepointLog.class.getModule());
            Method instance = type.getDeclaredMethod("getDiagnosticCommandMBean");
            Method execute = type.getDeclaredMethod("executeDiagnosticCommand", String.class);
            instance.setAccessible(true);
            execute.setAccessible(true);
            SafepointLog log = new SafepointLog(instance.invoke(null), execute, file);
            // One file, which does not rotate; times by the clock of System.nanoTime.
            String said = log.tell("safepoint=info decorators=timenanos output_options=filecount=0");
            if (!said.isEmpty()) {
                warn.accept("safepoints are not recorded: " + said);
                return null;
            }
            return log;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            warn.accept("safepoints are not recorded: " + e);
            return null;
        }
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
