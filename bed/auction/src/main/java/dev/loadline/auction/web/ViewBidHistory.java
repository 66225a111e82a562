package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog;
import dev.loadline.auction.data.Catalog.History;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /bids?item=N}: who has bid what on an item. */
final class ViewBidHistory extends PageServlet<History> {
    ViewBidHistory(Catalog catalog) {
        super(catalog);
    }

    @Override
    History find(HttpServletRequest request) throws Refusal, SQLException {
        return catalog.bids(Parameters.id(request, "item")).orElseThrow(() -> Refusal.notFound("There is no such item."));
    }

    @Override
    Html render(History history, Visit visit) {
        var html = new Html("bids", "Bids on " + history.item().name());
        html.raw("<p>Back to ").link("/item?id=", history.item()).raw("</p>\n");
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
