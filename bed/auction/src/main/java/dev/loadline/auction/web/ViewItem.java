package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Item;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /item?id=N}: one item, for sale or ended. */
final class ViewItem extends PageServlet<Item> {
    ViewItem(Store store) {
        super(store);
    }

    @Override
    Item find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.catalog().item(Parameters.id(request, "id")).orElseThrow(() -> Refusal.notFound("There is no such item."));
    }

    @Override
    Html render(Item item, Visit visit) {
        var html = new Html("item", item.name());
        html.raw("<img class=\"photo\" src=\"").raw(StaticFiles.photoOf(item.id()))
            .raw("\" alt=\"\" width=\"320\" height=\"240\">\n<table>\n<tr><th>Category</th><td>")
            .link("/search?category=", item.category()).raw("</td></tr>\n<tr><th>Seller</th><td>")
            .link("/user?id=", item.seller()).raw("</td></tr>\n<tr><th>Highest bid</th><td>")
            .money(item.priceCents()).raw(" (<a href=\"/bids?item=").raw(item.id())
            .raw("\">").raw(item.bids()).raw(item.bids() == 1 ? " bid" : " bids")
            .raw("</a>)</td></tr>\n<tr><th>Began at</th><td>").money(item.initialCents())
            .raw("</td></tr>\n<tr><th>Buy it now for</th><td>").money(item.buyNowCents())
            .raw("</td></tr>\n<tr><th>Quantity</th><td>").raw(item.quantity())
            .raw("</td></tr>\n<tr><th>Began</th><td>").time(item.start())
            .raw("</td></tr>\n<tr><th>Ends</th><td>").time(item.end())
            .raw("</td></tr>\n</table>\n").raw(actions(item)).raw("<section>\n<h2>Description</h2>\n<p>").text(item.description())
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

    private String actions(Item item) {
        if (!store.catalog().isOpen(item)) {
            return "<p>This auction has ended.</p>\n";
        }
        String id = Integer.toString(item.id());
        return "<p><a href=\"/bid/login?item=" + id + "\"><img src=\"/images/bid-now.png\" alt=\"Bid now\" width=\"96\" "
            + "height=\"28\"></a> <a href=\"/buy/login?item=" + id + "\"><img src=\"/images/buy-now.png\" alt=\"Buy it now\" "
            + "width=\"96\" height=\"28\"></a></p>\n<p><a href=\"/comment/login?to=" + item.seller().id() + "&amp;item=" + id
            + "\">Leave a comment on the seller</a></p>\n";
    }
}
