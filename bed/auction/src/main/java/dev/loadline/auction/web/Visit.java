package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Named;
import jakarta.servlet.http.HttpServletRequest;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** What the site remembers of a visitor, in the servlet session: who is logged in, and the items looked at last. */
final class Visit implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String ATTRIBUTE = "visit";
    private static final int REMEMBERED = 5;

    /** Plain values, so that a session can be stored. */
    private record Seen(int id, String name) implements Serializable {
    }

    private final Deque<Seen> seen = new ArrayDeque<>();
    private Seen user;

    static Visit of(HttpServletRequest request) {
        var session = request.getSession();
        if (session.getAttribute(ATTRIBUTE) instanceof Visit known) {
            return known;
        }
        var visit = new Visit();
        session.setAttribute(ATTRIBUTE, visit);
        return visit;
    }

    /** Who is logged in, or null. */
    synchronized Named user() {
        return user == null ? null : new Named(user.id, user.name);
    }

    /** Who is logged in; whoever is not is sent to {@code loginPage}. */
    Named userOr(String loginPage) throws Refusal {
        Named known = user();
        if (known == null) {
            throw Refusal.seeOther(loginPage);
        }
        return known;
    }

    /** Logs in, under a new session id: who knew the old one knows nothing now. */
    void login(HttpServletRequest request, Named who) {
        synchronized (this) {
            user = new Seen(who.id(), who.name());
        }
        request.changeSessionId();
    }

    synchronized void logout() {
        user = null;
    }

    /** One visitor may have several requests at once. */
    synchronized void saw(int id, String name) {
        seen.removeIf(s -> s.id == id);
        seen.addFirst(new Seen(id, name));
        if (seen.size() > REMEMBERED) {
            seen.removeLast();
        }
    }

    /** Last seen first. */
    synchronized List<Named> recent() {
        return seen.stream().map(s -> new Named(s.id, s.name)).toList();
    }
}
