package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.User;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /user?id=N}: one user, what others say, and what is for sale. */
final class ViewUserInfo extends PageServlet<User> {
    ViewUserInfo(Store store) {
        super(store);
    }

    @Override
    User find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.catalog().user(Parameters.id(request, "id")).orElseThrow(() -> Refusal.notFound("There is no such user."));
    }

    @Override
    Html render(User user, Visit visit) {
        var html = new Html("user", user.nickname());
        html.raw("<table>\n<tr><th>Name</th><td>").text(user.firstName()).raw(" ").text(user.lastName())
            .raw("</td></tr>\n<tr><th>Region</th><td>").text(user.region()).raw("</td></tr>\n<tr><th>Rating</th><td>")
            .raw(user.rating()).raw("</td></tr>\n<tr><th>Member since</th><td>").time(user.since())
            .raw("</td></tr>\n</table>\n<section>\n<h2>For sale</h2>\n<ul>\n");
        for (var item : user.selling()) {
            html.raw("<li>").link("/item?id=", item).raw("</li>\n");
        }
        html.raw("</ul>\n</section>\n<section>\n<h2>What others say</h2>\n<dl>\n");
        for (var comment : user.comments()) {
            html.raw("<dt>").link("/user?id=", comment.author()).raw(", ").time(comment.written()).raw(", rating ")
                .raw(comment.rating()).raw("</dt>\n<dd>").text(comment.text()).raw("</dd>\n");
        }
        return html.raw("</dl>\n</section>\n");
    }
}
