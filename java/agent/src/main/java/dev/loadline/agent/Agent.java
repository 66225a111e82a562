package dev.loadline.agent;

import java.lang.instrument.Instrumentation;

/** Where the JVM enters: with {@code -javaagent} or when the recorder attaches. */
public final class Agent {
    private Agent() {}

    /** Argument: the raw directory of a recording; nothing to stay dormant until one attaches. */
    public static void premain(String directory, Instrumentation instrumentation) {
        agentmain(directory, instrumentation);
    }

    /** See {@link #premain}. */
    public static void agentmain(String directory, Instrumentation instrumentation) {
        if (directory != null && !directory.isEmpty()) {
            Recording.start(directory, instrumentation);
        }
    }
}
