package dev.loadline.auction.web;

import dev.loadline.Loadline;
import dev.loadline.auction.data.Catalog;
import dev.loadline.auction.data.Catalog.Results;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /search?category=N[&region=N][&page=N]}: what is for sale, twenty items a page. */
final class Search extends PageServlet<Search.Found> {
    Search(Store store) {
        super(store);
    }

    record Found(Results results, int page) {
    }

    @Override
    Found find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        int page = Parameters.page(request);
        var results = store.catalog()
            .search(Parameters.id(request, "category"), Parameters.optionalId(request, "region"), page)
            .orElseThrow(() -> Refusal.notFound("There is no such category or region."));
        Loadline.event("items-found", results.items().size());
        return new Found(results, page);
    }

    @Override
    Html render(Found found, Visit visit) {
        Results results = found.results;
        String where = results.region() == null ? "" : " in " + results.region().name();
        var html = new Html("search", results.category().name() + where);
        if (results.items().isEmpty()) {
            html.raw("<p>Nothing more is for sale here.</p>\n");
        } else {
            html.raw("<table>\n<tr><th></th><th>Item</th><th>Price</th><th>Bids</th><th>Ends</th><th></th></tr>\n");
            for (var item : results.items()) {
                html.raw("<tr><td><img src=\"").raw(StaticFiles.thumbOf(item.id()))
                    .raw("\" alt=\"\" width=\"48\" height=\"36\"></td><td><a href=\"/item?id=").raw(item.id()).raw("\">")
                    .text(item.name()).raw("</a></td><td>").money(Math.max(item.initialCents(), item.maxBidCents()))
                    .raw("</td><td>").raw(item.bids()).raw("</td><td>").time(item.end())
                    .raw("</td><td><a href=\"/bids?item=").raw(item.id()).raw("\">bid history</a> <a href=\"/bid/login?item=").raw(item.id()).raw("\">bid now</a></td></tr>\n");
            }
            html.raw("</table>\n");
        }
        pager(html, found);
        return html;
    }

    private static void pager(Html html, Found found) {
        Results results = found.results;
        html.raw("<p class=\"pager\">");
        if (found.page > 0) {
            pageLink(html, results, found.page - 1).raw("Previous page</a> ");
        }
        html.raw("Page ").raw(found.page + 1);
        if (results.items().size() == Catalog.PAGE_SIZE) {
            pageLink(html.raw(" "), results, found.page + 1).raw("Next page</a>");
        }
        html.raw("</p>\n");
    }

    private static Html pageLink(Html html, Results results, int page) {
        html.raw("<a href=\"/search?category=").raw(results.category().id());
        if (results.region() != null) {
            html.raw("&amp;region=").raw(results.region().id());
        }
        return html.raw("&amp;page=").raw(page).raw("\">");
    }
}
