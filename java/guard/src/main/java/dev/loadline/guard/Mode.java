package dev.loadline.guard;

/** What the guard does with its decisions. */
public enum Mode {
    /** Nothing: connections are not even looked at. */
    OFF,
    /** Decides, counts and reports, and lets everyone in. */
    OBSERVE,
    /** Refuses whom it decided to refuse. */
    ENFORCE
}
