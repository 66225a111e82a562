package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Item;
import dev.loadline.auction.data.Declined;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /comment?to=N&item=N}: the form to say something about a user; posted back (StoreComment), it is said. */
final class PutComment extends PageServlet<PutComment.Found> {
    private static final int MOST_CHARS = 600;

    PutComment(Store store) {
        super(store);
    }

    record Found(Item item, int about) {
    }

    @Override
    Found find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        int about = Parameters.id(request, "to");
        int id = Parameters.id(request, "item");
        visit.userOr(loginPage(about, id));
        return new Found(store.catalog().item(id).orElseThrow(() -> Refusal.notFound("There is no such item.")), about);
    }

    private static String loginPage(int about, int item) {
        return "/comment/login?to=" + about + "&item=" + item;
    }

    @Override
    Html render(Found found, Visit visit) {
        var html = new Html("comment", "Leave a comment");
        ItemPage.summary(html, found.item);
        html.raw("<form method=\"post\" action=\"/comment\">\n").hidden("to", found.about).hidden("item", found.item.id())
            .raw("<p><label>Rating <select name=\"rating\">\n");
        for (int rating = 5; rating >= -5; rating--) {
            html.raw("<option value=\"").raw(rating).raw(rating == 0 ? "\" selected>" : "\">").raw(rating).raw("</option>\n");
        }
        return html.raw("</select></label></p>\n<p><label>Comment<br><textarea name=\"text\" rows=\"5\" cols=\"60\" "
            + "maxlength=\"600\" required></textarea></label></p>\n<p><button>Say it</button></p>\n</form>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, Declined, SQLException {
        int about = Parameters.id(request, "to");
        int item = Parameters.id(request, "item");
        int author = visit.userOr(loginPage(about, item)).id();
        if (!store.market().comment(author, about, item, Parameters.number(request, "rating", -5, 5),
            Parameters.text(request, "text", MOST_CHARS))) {
            throw Refusal.notFound("There is no such user.");
        }
        return "/comment/done?to=" + about;
    }
}
