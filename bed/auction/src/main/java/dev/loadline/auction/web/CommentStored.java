package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.User;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /comment/done?to=N}: what follows a comment. */
final class CommentStored extends PageServlet<User> {
    CommentStored(Store store) {
        super(store);
    }

    @Override
    User find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.catalog().user(Parameters.id(request, "to")).orElseThrow(() -> Refusal.notFound("There is no such user."));
    }

    @Override
    Html render(User user, Visit visit) {
        return new Html("comment-stored", "Thank you").raw("<p>Your comment on ").link("/user?id=", user.id(), user.nickname())
            .raw(" is stored. Their rating is now ").raw(user.rating()).raw(".</p>\n<p><a href=\"/browse\">Browse on</a></p>\n");
    }
}
