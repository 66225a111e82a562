package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog;
import jakarta.servlet.http.HttpServletRequest;

/** {@code /}: the way in. */
final class Home extends PageServlet<String> {
    Home(Catalog catalog) {
        super(catalog);
    }

    @Override
    String find(HttpServletRequest request) {
        return "Welcome";
    }

    @Override
    Html render(String title, Visit visit) {
        var html = new Html("home", title).raw("""
            <p>Thousands of things look for a new home. Some are beautiful, some are useful, a few are both, and all of
            them end within a week.</p>
            <section>
            <h2>Where to begin</h2>
            <ul>
            <li><a href="/browse">Browse</a> what is for sale</li>
            <li><a href="/categories">Choose a category</a>: from antiques to travel</li>
            <li><a href="/regions">Choose a region</a> and collect what you buy in person</li>
            <li><a href="/about.html">Read how it works</a></li>
            </ul>
            </section>
            <section>
            <h2>How to bid</h2>
            <p>An auction runs up to two weeks. Whoever has bid most when it ends buys. Every bid must be higher than the
            one before it; who has bid is shown in the item's bid history, and what others think of a seller on the
            seller's own page.</p>
            </section>
            """);
        var recent = visit.recent();
        if (!recent.isEmpty()) {
            html.raw("<section>\n<h2>You looked at</h2>\n<ul>\n");
            recent.forEach(item -> html.raw("<li>").link("/item?id=", item).raw("</li>\n"));
            html.raw("</ul>\n</section>\n");
        }
        return html;
    }
}
