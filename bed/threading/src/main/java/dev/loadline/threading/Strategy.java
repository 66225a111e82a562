package dev.loadline.threading;

import java.util.Arrays;
import java.util.List;

/** Which thread runs the servant. */
public enum Strategy {
    /** The thread that receives from a connection: one request of a client at a time. */
    PER_CLIENT("per-client"),
    /** As {@link #PER_CLIENT}, with one mutex of the whole broker around the servant: one request at a time in all. */
    THREADED("threaded"),
    /** A new thread for each request; it ends with the reply. */
    PER_REQUEST("per-request"),
    /** A fixed number of threads that take requests from one queue, first come first served. */
    POOL("pool");

    /** On the command line. */
    public final String label;

    Strategy(String label) {
        this.label = label;
    }

    /** All labels, in order. */
    public static List<String> labels() {
        return Arrays.stream(values()).map(s -> s.label).toList();
    }

    /** By its label; there must be one. */
    public static Strategy of(String label) {
        return values()[labels().indexOf(label)];
    }
}
