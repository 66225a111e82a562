package dev.loadline.agent;

import java.lang.instrument.Instrumentation;

/** Where the JVM enters: with {@code -javaagent} or when the recorder attaches. */
public final class Agent {
    private Agent() {}

    /**
     * At start classes get their probes as they load, once and for all; they are dormant until a
     * recording.
     *
     * @param directory the raw directory of a recording that begins at once; or nothing
     */
    public static void premain(String directory, Instrumentation instrumentation) {
        Recording.weave(instrumentation);
        agentmain(directory, instrumentation);
    }

    /** When the recorder attaches; see {@link #premain}. */
    public static void agentmain(String directory, Instrumentation instrumentation) {
        if (directory != null && !directory.isEmpty()) {
            Recording.start(directory, instrumentation);
        }
    }
}
