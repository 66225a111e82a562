package dev.loadline.auction.web;

import dev.loadline.Loadline;
import dev.loadline.auction.data.Catalog;
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
 * One interaction: {@link #find} asks the database, {@link #render} writes the page. Two methods,
 * so that no page can hold a connection while it renders.
 *
 * @param <T> what the page shows
 */
abstract class PageServlet<T> extends HttpServlet {
    private static final Logger LOG = Logger.getLogger(PageServlet.class.getName());

    final transient Catalog catalog;

    PageServlet(Catalog catalog) {
        this.catalog = catalog;
    }

    /** Reads the parameters and the database. */
    abstract T find(HttpServletRequest request) throws Refusal, SQLException;

    /** Writes the page. */
    abstract Html render(T found, Visit visit);

    @Override
    protected final void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int status = HttpServletResponse.SC_OK;
        String page;
        try {
            T found = find(request);
            page = rendered(found, Visit.of(request));
        } catch (Refusal refusal) {
            status = refusal.status();
            page = ErrorPage.of(status, refusal.getMessage());
        } catch (SQLTransientConnectionException e) {
            // The pool had no connection in time: overload, not a fault.
            status = HttpServletResponse.SC_SERVICE_UNAVAILABLE;
            page = ErrorPage.of(status, "The auction is too busy. Please try again.");
        } catch (SQLException e) {
            LOG.log(Level.SEVERE, request.getRequestURI(), e);
            status = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
            page = ErrorPage.of(status, "The database did not answer.");
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
            return render(found, visit).end();
        }
    }
}
