package dev.loadline.agent;

import java.lang.instrument.Instrumentation;

/** Where the JVM enters: with {@code -javaagent} or when the recorder attaches. */
public final class Agent {
    private Agent() {}

    /** Of an argument that names methods to have probes: filters with a colon between them. */
    private static final String METHODS = "methods=";

    /**
     * At start classes get their probes as they load, once and for all; they are dormant until a
     * recording.
     *
     * @param argument the raw directory of a recording that begins at once; or {@code methods=FILTER:FILTER…}; or nothing
     */
    public static void premain(String argument, Instrumentation instrumentation) {
        Reach.prepare();
        Recording.weave(instrumentation);
        if (argument != null && argument.startsWith(METHODS)) {
            Recording.weaveMethods(argument.substring(METHODS.length()).replace(':', '\n'), instrumentation);
        } else if (argument != null && !argument.isEmpty()) {
            Recording.start(argument, instrumentation, true);
        }
        Door.open(instrumentation); // last: what it loads has its probes then
    }

    /** When the recorder attaches; see {@link #premain}. */
    public static void agentmain(String directory, Instrumentation instrumentation) {
        if (directory != null && !directory.isEmpty()) {
            Recording.start(directory, instrumentation, false);
        }
    }
}
