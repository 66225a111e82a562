package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Item;
import dev.loadline.auction.data.Store;
import java.sql.SQLException;

/** What the pages share that deal with one item. */
final class ItemPage {
    private ItemPage() {
    }

    /** An item that is still for sale. */
    static Item open(Store store, int id) throws Refusal, SQLException {
        Item item = store.catalog().item(id).orElseThrow(() -> Refusal.notFound("There is no such item."));
        if (!store.catalog().isOpen(item)) {
            throw Refusal.conflict("This auction has ended.");
        }
        return item;
    }

    /** What it is and costs, in a few lines. */
    static void summary(Html html, Item item) {
        html.raw("<table>\n<tr><th rowspan=\"5\"><img src=\"").raw(StaticFiles.thumbOf(item.id()))
            .raw("\" alt=\"\" width=\"48\" height=\"36\"></th><th>Item</th><td>").link("/item?id=", item.id(), item.name())
            .raw("</td></tr>\n<tr><th>Seller</th><td>").link("/user?id=", item.seller())
            .raw("</td></tr>\n<tr><th>Highest bid</th><td>").money(item.priceCents()).raw(", ").raw(item.bids())
            .raw(item.bids() == 1 ? " bid" : " bids").raw("</td></tr>\n<tr><th>Pieces left</th><td>").raw(item.quantity())
            .raw("</td></tr>\n<tr><th>Ends</th><td>").time(item.end()).raw("</td></tr>\n</table>\n");
    }
}
