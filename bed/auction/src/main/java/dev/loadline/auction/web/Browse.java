package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog;
import jakarta.servlet.http.HttpServletRequest;

/** {@code /browse}: by category or by region. */
final class Browse extends PageServlet<String> {
    Browse(Catalog catalog) {
        super(catalog);
    }

    @Override
    String find(HttpServletRequest request) {
        return "Browse";
    }

    @Override
    Html render(String title, Visit visit) {
        return new Html("browse", title).raw("""
            <p>There are two ways through the catalogue.</p>
            <ul>
            <li><a href="/categories"><img src="/images/photo-1.png" alt="" width="96" height="72"> By category</a>:
            everything of one kind, wherever it stands.</li>
            <li><a href="/regions"><img src="/images/photo-2.png" alt="" width="96" height="72"> By region</a>:
            what you can collect yourself, then by kind.</li>
            </ul>
            <p>Lists show twenty items a page, those that end first on top.</p>
            """);
    }
}
