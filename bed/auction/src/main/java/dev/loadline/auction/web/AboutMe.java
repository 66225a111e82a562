package dev.loadline.auction.web;

import dev.loadline.auction.data.Members.Deal;
import dev.loadline.auction.data.Members.Me;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;
import java.util.List;

/** The form of {@code /me/login} (static), posted back, logs in and leads to {@code /me}: all that the site knows of oneself. */
final class AboutMe extends FormPage<Me> {
    static final String FORM = "/me/login";

    AboutMe(Store store, StaticFiles files) {
        super(store, files, FORM);
    }

    @Override
    Me find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.members().me(visit.userOr(FORM).id()).orElseThrow(() -> Refusal.notFound("You are no longer registered."));
    }

    @Override
    Html render(Me me, Visit visit) {
        var html = new Html("me", "About me");
        html.raw("<p>").link("/user?id=", me.user().id(), me.user().nickname()).raw(", ").text(me.user().firstName()).raw(" ")
            .text(me.user().lastName()).raw(", ").text(me.user().region()).raw(", rating ").raw(me.user().rating())
            .raw("</p>\n<section>\n<h2>My latest bids</h2>\n<table>\n"
                + "<tr><th>Item</th><th>My bid</th><th>Highest</th><th>Ends</th><th></th></tr>\n");
        for (var bid : me.bids()) {
            html.raw("<tr><td>").link("/item?id=", bid.item()).raw("</td><td>").money(bid.cents()).raw("</td><td>")
                .money(bid.maxBidCents()).raw("</td><td>").time(bid.end()).raw("</td><td><a href=\"/bid/login?item=")
                .raw(bid.item().id()).raw("\">bid more</a></td></tr>\n");
        }
        html.raw("</table>\n</section>\n<section>\n<h2>What I sell</h2>\n<ul>\n");
        for (var item : me.user().selling()) {
            html.raw("<li>").link("/item?id=", item).raw("</li>\n");
        }
        html.raw("</ul>\n</section>\n");
        deals(html, "What I bought at once", me.bought());
        deals(html, "What I won", me.won());
        deals(html, "What I sold", me.sold());
        html.raw("<section>\n<h2>What others say of me</h2>\n<dl>\n");
        for (var comment : me.user().comments()) {
            html.raw("<dt>").link("/user?id=", comment.author()).raw(", ").time(comment.written()).raw(", rating ")
                .raw(comment.rating()).raw("</dt>\n<dd>").text(comment.text()).raw("</dd>\n");
        }
        return html.raw("</dl>\n</section>\n");
    }

    private static void deals(Html html, String title, List<Deal> deals) {
        html.raw("<section>\n<h2>").raw(title).raw("</h2>\n<table>\n<tr><th>Item</th><th>Pieces</th><th>Price</th><th>When</th></tr>\n");
        for (var deal : deals) {
            html.raw("<tr><td>").link("/item?id=", deal.item()).raw("</td><td>").raw(deal.quantity()).raw("</td><td>")
                .money(deal.cents()).raw("</td><td>").time(deal.at()).raw("</td></tr>\n");
        }
        html.raw("</table>\n</section>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        Login.of(request, visit, store);
        return "/me";
    }

    /** The static form. */
    static String form() {
        return new Html("me-login", "About me").raw("<p>What you have bid, bought, won and sold, and what others say of you. "
            + "Please say who you are.</p>\n<form method=\"post\" action=\"/me/login\">\n").login()
            .raw("<p><button>Show me</button></p>\n</form>\n").end(null);
    }
}
