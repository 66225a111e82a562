package dev.loadline.guard.policy;

/** What a connection is by its hello and its address, before anything is proven. */
public enum Standing {
    /** It claims no session. */
    NEW,
    /** It claims a session, and its client was not served of late: one that begins. */
    RETURNING,
    /** It claims a session, and its client was served not long ago: that session is under way. */
    KNOWN;

    /** Whether it claims a session. */
    public boolean claims() {
        return this != NEW;
    }
}
