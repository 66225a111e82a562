package dev.loadline.guard;

/** What a server is to do with a connection. */
public enum Action {
    /** Go on as if there were no guard. */
    SERVE,
    /** Go on with an engine that may only resume: {@code SSLEngine.setEnableSessionCreation(false)}. */
    SERVE_RESUMED_ONLY,
    /** Go on, and answer its first request by {@link Guard#page}. */
    SERVE_PAGE,
    /** Send {@link Guard#ALERT}, then close. */
    ALERT,
    /** Close. */
    CLOSE
}
