package dev.loadline.auction.web;

import jakarta.servlet.http.HttpServletResponse;

/** A request that gets an error page instead of its page: the status and what to tell the visitor. */
final class Refusal extends Exception {
    private final int status;

    private Refusal(int status, String message) {
        // Part of normal work under odd clients: a stack trace would cost more than the page.
        super(message, null, false, false);
        this.status = status;
    }

    static Refusal notFound(String what) {
        return new Refusal(HttpServletResponse.SC_NOT_FOUND, what);
    }

    static Refusal badRequest(String what) {
        return new Refusal(HttpServletResponse.SC_BAD_REQUEST, what);
    }

    int status() {
        return status;
    }
}
