package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Item;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/**
 * {@code /bid/login?item=N}, {@code /buy/login?item=N} and {@code /comment/login?to=N&item=N}: who
 * wants to do something with an item says who they are first. Posted back, it leads on to
 * {@code /bid}, {@code /buy} or {@code /comment}.
 */
final class Auth extends PageServlet<Auth.Found> {
    private final String what;
    private final String title;

    /** For {@code what}: bid, buy or comment. */
    Auth(Store store, String what, String title) {
        super(store);
        this.what = what;
        this.title = title;
    }

    /** {@code about} is the user commented on, 0 for bidding and buying. */
    record Found(Item item, int about) {
    }

    private int about(HttpServletRequest request) throws Refusal {
        return what.equals("comment") ? Parameters.id(request, "to") : 0;
    }

    @Override
    Found find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        int about = about(request);
        Item item = store.catalog().item(Parameters.id(request, "item"))
            .orElseThrow(() -> Refusal.notFound("There is no such item."));
        return new Found(item, about);
    }

    @Override
    Html render(Found found, Visit visit) {
        Item item = found.item;
        var html = new Html(what + "-login", title).raw("<p><img src=\"").raw(StaticFiles.thumbOf(item.id()))
            .raw("\" alt=\"\" width=\"48\" height=\"36\"> ").link("/item?id=", item.id(), item.name())
            .raw("</p>\n<p>Please say who you are.</p>\n<form method=\"post\" action=\"/").raw(what).raw("/login\">\n")
            .hidden("item", item.id());
        if (found.about > 0) {
            html.hidden("to", found.about);
        }
        return html.login().raw("<p><button>Go on</button></p>\n</form>\n<p>New here? <a href=\"/register\">Register</a></p>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        int item = Parameters.id(request, "item");
        int about = about(request);
        Login.of(request, visit, store);
        return "/" + what + "?item=" + item + (about > 0 ? "&to=" + about : "");
    }
}
