package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Item;
import dev.loadline.auction.data.Declined;
import dev.loadline.auction.data.Market;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /bid?item=N}: the form to bid with; posted back (StoreBid), it bids. */
final class PutBid extends PageServlet<Item> {
    private static final int MOST_PIECES = 1000;
    private static final int HIGHEST_RAISE_CENTS = 100_000;

    PutBid(Store store) {
        super(store);
    }

    @Override
    Item find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        int id = Parameters.id(request, "item");
        visit.userOr("/bid/login?item=" + id);
        return ItemPage.open(store, id);
    }

    @Override
    Html render(Item item, Visit visit) {
        int least = item.priceCents() + Market.LEAST_STEP_CENTS;
        var html = new Html("bid", "Bid on " + item.name());
        ItemPage.summary(html, item);
        return html.raw("<form method=\"post\" action=\"/bid\">\n").hidden("item", item.id())
            .raw("<p><label>Your bid, EUR <input name=\"bid\" inputmode=\"decimal\" value=\"").decimal(least)
            .raw("\" required></label></p>\n")
            .field("Quantity", "quantity", "number", "min=\"1\" max=\"1000\" value=\"1\"")
            .raw("<p><button><img src=\"/images/bid-now.png\" alt=\"Bid now\" width=\"96\" height=\"28\"></button></p>\n</form>\n")
            .raw("<p>At least ").money(least).raw(". See the <a href=\"/bids?item=").raw(item.id())
            .raw("\">bid history</a> or <a href=\"/comment/login?to=").raw(item.seller().id()).raw("&amp;item=").raw(item.id())
            .raw("\">leave a comment on the seller</a>.</p>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, Declined, SQLException {
        int id = Parameters.id(request, "item");
        int bidder = visit.userOr("/bid/login?item=" + id).id();
        int quantity = Parameters.number(request, "quantity", 1, MOST_PIECES);
        if (request.getParameter("raise") != null) {
            store.market().raise(bidder, id, quantity,
                Parameters.number(request, "raise", Market.LEAST_STEP_CENTS, HIGHEST_RAISE_CENTS));
        } else {
            store.market().bid(bidder, id, quantity, Parameters.cents(request, "bid"));
        }
        return "/bid/done?item=" + id;
    }
}
