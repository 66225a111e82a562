package dev.loadline.guard;

/** What a refused client sees. */
public enum Refusal {
    /** The connection is closed. */
    CLOSE,
    /** A TLS alert, internal_error, then the close: browsers and proxies know to try elsewhere. */
    ALERT,
    /** As long as a bounded share of the CPUs lasts, a page with status 503; beyond it an alert. */
    PAGE
}
