package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog;
import dev.loadline.auction.data.Catalog.Item;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /item?id=N}: one item. */
final class ViewItem extends PageServlet<Item> {
    ViewItem(Catalog catalog) {
        super(catalog);
    }

    @Override
    Item find(HttpServletRequest request) throws Refusal, SQLException {
        return catalog.item(Parameters.id(request, "id")).orElseThrow(() -> Refusal.notFound("There is no such item."));
    }

    @Override
    Html render(Item item, Visit visit) {
        var html = new Html("item", item.name());
        html.raw("<img class=\"photo\" src=\"").raw(StaticFiles.photoOf(item.id()))
            .raw("\" alt=\"\" width=\"320\" height=\"240\">\n<table>\n<tr><th>Category</th><td>")
            .link("/search?category=", item.category()).raw("</td></tr>\n<tr><th>Seller</th><td>")
            .link("/user?id=", item.seller()).raw("</td></tr>\n<tr><th>Highest bid</th><td>")
            .money(Math.max(item.initialCents(), item.maxBidCents())).raw(" (<a href=\"/bids?item=").raw(item.id())
            .raw("\">").raw(item.bids()).raw(item.bids() == 1 ? " bid" : " bids")
            .raw("</a>)</td></tr>\n<tr><th>Began at</th><td>").money(item.initialCents())
            .raw("</td></tr>\n<tr><th>Buy it now for</th><td>").money(item.buyNowCents())
            .raw("</td></tr>\n<tr><th>Quantity</th><td>").raw(item.quantity())
            .raw("</td></tr>\n<tr><th>Began</th><td>").time(item.start())
            .raw("</td></tr>\n<tr><th>Ends</th><td>").time(item.end())
            .raw("</td></tr>\n</table>\n<section>\n<h2>Description</h2>\n<p>").text(item.description())
            .raw("</p>\n</section>\n");
        var recent = visit.recent();
        if (!recent.isEmpty()) {
            html.raw("<section>\n<h2>You looked at</h2>\n<ul>\n");
            for (var seen : recent) {
                html.raw("<li><img src=\"").raw(StaticFiles.thumbOf(seen.id()))
                    .raw("\" alt=\"\" width=\"48\" height=\"36\"> ").link("/item?id=", seen).raw("</li>\n");
            }
            html.raw("</ul>\n</section>\n");
        }
        visit.saw(item.id(), item.name());
        return html;
    }
}
