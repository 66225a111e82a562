package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.History;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /bids?item=N}: who has bid what on an item. */
final class ViewBidHistory extends PageServlet<History> {
    ViewBidHistory(Store store) {
        super(store);
    }

    @Override
    History find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.catalog().bids(Parameters.id(request, "item")).orElseThrow(() -> Refusal.notFound("There is no such item."));
    }

    @Override
    Html render(History history, Visit visit) {
        var html = new Html("bids", "Bids on " + history.item().name());
        html.raw("<p>Back to ").link("/item?id=", history.item()).raw("</p>\n");
        if (history.old()) {
            return html.raw("<p>This auction has ended. Its bids are no longer kept, only their number and the highest.</p>\n");
        }
        if (history.bids().isEmpty()) {
            return html.raw("<p>Nobody has bid yet.</p>\n");
        }
        html.raw("<table>\n<tr><th>Bidder</th><th>Bid</th><th>Quantity</th><th>When</th></tr>\n");
        for (var bid : history.bids()) {
            html.raw("<tr><td>").link("/user?id=", bid.bidder()).raw("</td><td>").money(bid.cents()).raw("</td><td>")
                .raw(bid.quantity()).raw("</td><td>").time(bid.placed()).raw("</td></tr>\n");
        }
        return html.raw("</table>\n");
    }
}
