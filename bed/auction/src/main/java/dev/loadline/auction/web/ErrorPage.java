package dev.loadline.auction.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** The error page: as text for the other servlets, and as the servlet of every path that nobody answers. */
final class ErrorPage extends HttpServlet {
    /** Its marker differs from every page's, so that a client cannot take it for success. */
    static final String MARKER = "error";
    /** The marker when the market has moved, which no client is to blame for. */
    static final String REFUSED = "refused";

    static String of(int status, String message) {
        boolean refused = status == HttpServletResponse.SC_CONFLICT;
        return new Html(refused ? REFUSED : MARKER, refused ? "Not this time" : "Error " + status)
            .raw("<p>").text(message).raw("</p>\n").end(null);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setStatus(HttpServletResponse.SC_NOT_FOUND);
        response.setContentType("text/html;charset=UTF-8");
        response.getWriter().write(of(HttpServletResponse.SC_NOT_FOUND, "There is no such page."));
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        doGet(request, response);
    }
}
