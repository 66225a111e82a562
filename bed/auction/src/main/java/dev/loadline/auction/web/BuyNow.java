package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Item;
import dev.loadline.auction.data.Declined;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /buy?item=N}: the form to buy with at once; posted back (StoreBuyNow), it buys. */
final class BuyNow extends PageServlet<Item> {
    private static final int MOST_PIECES = 1000;

    BuyNow(Store store) {
        super(store);
    }

    @Override
    Item find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        int id = Parameters.id(request, "item");
        visit.userOr("/buy/login?item=" + id);
        Item item = ItemPage.open(store, id);
        if (item.buyNowCents() == 0) {
            throw Refusal.conflict("This item is sold to the highest bidder only.");
        }
        return item;
    }

    @Override
    Html render(Item item, Visit visit) {
        var html = new Html("buy", "Buy " + item.name());
        ItemPage.summary(html, item);
        return html.raw("<form method=\"post\" action=\"/buy\">\n").hidden("item", item.id())
            .field("Quantity", "quantity", "number", "min=\"1\" max=\"1000\" value=\"1\"")
            .raw("<p>").money(item.buyNowCents()).raw(" each.</p>\n<p><button><img src=\"/images/buy-now.png\" "
                + "alt=\"Buy it now\" width=\"96\" height=\"28\"></button></p>\n</form>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, Declined, SQLException {
        int id = Parameters.id(request, "item");
        int buyer = visit.userOr("/buy/login?item=" + id).id();
        store.market().buy(buyer, id, Parameters.number(request, "quantity", 1, MOST_PIECES));
        return "/buy/done?item=" + id;
    }
}
