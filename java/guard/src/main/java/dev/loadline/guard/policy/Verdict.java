package dev.loadline.guard.policy;

/** What to do with a connection whose hello is known. */
public enum Verdict {
    /** Serve it. */
    ADMIT,
    /** It claims a session, and there is no budget for a new one: an engine that may only resume. */
    RESUME_ONLY,
    /** A new connection, or a claim, beyond what new connections may take. */
    REFUSE_BUDGET,
    /** A claim beyond what resumed connections may take. */
    REFUSE_CEILING,
    /** The same ticket from the same address, too often. */
    REFUSE_REPLAY,
    /** An address most of whose claims were not good. */
    REFUSE_ADDRESS;

    public boolean refuses() {
        return this != ADMIT && this != RESUME_ONLY;
    }
}
