package dev.loadline.auction.web;

import dev.loadline.Loadline;
import dev.loadline.auction.data.Declined;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * One interaction, or two: {@link #find} asks the database, {@link #render} writes the page. Two
 * methods, so that no page can hold a connection while it renders. Where the page is a form that is
 * posted to its own path, {@link #submit} takes it and names the page that follows: every POST that
 * succeeds answers 303, so that going back or reloading repeats nothing.
 *
 * @param <T> what the page shows
 */
abstract class PageServlet<T> extends HttpServlet {
    private static final Logger LOG = Logger.getLogger(PageServlet.class.getName());

    final transient Store store;

    PageServlet(Store store) {
        this.store = store;
    }

    /** Reads the parameters and the database. */
    abstract T find(HttpServletRequest request, Visit visit) throws Refusal, SQLException;

    /** Writes the page. */
    abstract Html render(T found, Visit visit);

    /** Does what the form asks for; returns the path of the page to show next. */
    String submit(HttpServletRequest request, Visit visit) throws Refusal, Declined, SQLException {
        throw Refusal.methodNotAllowed();
    }

    private interface Answer {
        /** The page, or null if the response says all. */
        String to(HttpServletRequest request, Visit visit) throws Refusal, Declined, SQLException;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response, (r, visit) -> rendered(find(r, visit), visit));
    }

    @Override
    protected final void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response, (r, visit) -> {
            throw Refusal.seeOther(submit(r, visit));
        });
    }

    private static void answer(HttpServletRequest request, HttpServletResponse response, Answer answer) throws IOException {
        int status = HttpServletResponse.SC_OK;
        String page;
        try {
            page = answer.to(request, Visit.of(request));
        } catch (Refusal refusal) {
            status = refusal.status();
            page = ErrorPage.of(status, refusal.getMessage());
            refusal.headers(response);
        } catch (Declined declined) {
            status = HttpServletResponse.SC_CONFLICT;
            page = ErrorPage.of(status, declined.getMessage());
        } catch (SQLTransientConnectionException e) {
            // The pool had no connection in time: overload, not a fault.
            status = HttpServletResponse.SC_SERVICE_UNAVAILABLE;
            page = ErrorPage.of(status, "The auction is too busy. Please try again.");
        } catch (SQLException e) {
            LOG.log(Level.SEVERE, request.getRequestURI(), e);
            status = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
            page = ErrorPage.of(status, "The database did not answer.");
        } catch (RuntimeException e) {
            LOG.log(Level.SEVERE, request.getRequestURI(), e);
            status = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
            page = ErrorPage.of(status, "Something went wrong on our side.");
        }
        byte[] body = page.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("text/html;charset=UTF-8");
        response.setHeader("Cache-Control", "no-store");
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    /** The one thing that a recording cannot see for itself: which part of a service is rendering. */
    private String rendered(T found, Visit visit) {
        try (var span = Loadline.span("render")) {
            return render(found, visit).end(visit.user());
        }
    }
}
