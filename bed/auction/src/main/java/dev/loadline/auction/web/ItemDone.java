package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Item;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /bid/done?item=N}, {@code /buy/done?item=N}, {@code /sell/done?id=N}: what follows a bid, a purchase, an offer. */
final class ItemDone extends PageServlet<Item> {
    private final String parameter;
    private final String marker;
    private final String message;

    ItemDone(Store store, String parameter, String marker, String message) {
        super(store);
        this.parameter = parameter;
        this.marker = marker;
        this.message = message;
    }

    @Override
    Item find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.catalog().item(Parameters.id(request, parameter))
            .orElseThrow(() -> Refusal.notFound("There is no such item."));
    }

    @Override
    Html render(Item item, Visit visit) {
        var html = new Html(marker, "Thank you").raw("<p>").text(message).raw("</p>\n");
        ItemPage.summary(html, item);
        return html.raw("<p><a href=\"/browse\">Browse on</a> or see <a href=\"/me/login\">all about you</a>.</p>\n");
    }
}
