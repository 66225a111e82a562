package dev.loadline.guard.servlet;

import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.ServerAnswer;
import dev.loadline.guard.ServerRequest;
import dev.loadline.guard.Serving;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

/** What the servlet API says of a request. */
record ServletServerRequest(HttpServletRequest request) implements ServerRequest {
    @Override
    public String method() {
        return request.getMethod();
    }

    @Override
    public String path() {
        return request.getRequestURI();
    }

    @Override
    public String pathInApplication() {
        String path = path();
        String application = request.getContextPath();
        return application != null && path.startsWith(application) ? path.substring(application.length()) : path;
    }

    @Override
    public Iterable<String> headers(String name) {
        Enumeration<String> values = request.getHeaders(name);
        return values == null || !values.hasMoreElements() ? List.of() : Collections.list(values);
    }

    @Override
    public String peer() {
        return request.getRemoteAddr();
    }

    @Override
    public boolean onGuardedConnection() {
        return GuardedRequest.isAnsweredFor() || Serving.isGuarded() && request.getProtocol().startsWith("HTTP/1");
    }

    @Override
    public String sessionCookie() {
        String name = request.getServletContext().getSessionCookieConfig().getName();
        return name == null ? "JSESSIONID" : name;
    }

    @Override
    public Session session() {
        if (request.getRequestedSessionId() == null || !request.isRequestedSessionIdFromCookie()) {
            return Session.UNKNOWN;
        }
        return request.isRequestedSessionIdValid() ? Session.VALID : Session.INVALID;
    }

    /** What became of it. */
    ServerAnswer answer(HttpServletResponse response, int status) {
        Session session = session();
        // Asked for only where the server would not look one up for it.
        HttpSession begun = session == Session.VALID ? null : request.getSession(false);
        return new ServerAnswer(status, response.getHeaders("Set-Cookie"), session, begun == null ? null : begun.getId());
    }
}
