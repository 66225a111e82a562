package dev.loadline.guard.policy;

/** What a handshake turned out to be. */
public enum Outcome {
    /** A new session, with all the asymmetric cryptography. */
    FULL,
    /** A session that the server knew. */
    RESUMED,
    /** The engine refused: a claim that was not good, or a client that could not agree. */
    FAILED
}
