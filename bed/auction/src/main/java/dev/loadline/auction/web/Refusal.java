package dev.loadline.auction.web;

import jakarta.servlet.http.HttpServletResponse;

/** A request that is answered otherwise than by its page: the status, what to tell the visitor, and where to go instead. */
final class Refusal extends Exception {
    private final int status;
    private final String location;

    private Refusal(int status, String message, String location) {
        // Part of normal work under odd clients: a stack trace would cost more than the page.
        super(message, null, false, false);
        this.status = status;
        this.location = location;
    }

    static Refusal notFound(String what) {
        return new Refusal(HttpServletResponse.SC_NOT_FOUND, what, null);
    }

    static Refusal badRequest(String what) {
        return new Refusal(HttpServletResponse.SC_BAD_REQUEST, what, null);
    }

    static Refusal forbidden(String what) {
        return new Refusal(HttpServletResponse.SC_FORBIDDEN, what, null);
    }

    /** Nothing wrong with the request, but the market has moved. */
    static Refusal conflict(String what) {
        return new Refusal(HttpServletResponse.SC_CONFLICT, what, null);
    }

    static Refusal methodNotAllowed() {
        return new Refusal(HttpServletResponse.SC_METHOD_NOT_ALLOWED, "Nothing can be posted here.", null);
    }

    /** To another page, by GET. */
    static Refusal seeOther(String location) {
        return new Refusal(HttpServletResponse.SC_SEE_OTHER, "It goes on elsewhere.", location);
    }

    int status() {
        return status;
    }

    void headers(HttpServletResponse response) {
        if (location != null) {
            response.setHeader("Location", location);
        } else if (status == HttpServletResponse.SC_METHOD_NOT_ALLOWED) {
            response.setHeader("Allow", "GET, HEAD");
        }
    }
}
