package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Named;
import dev.loadline.auction.data.Catalog.User;
import dev.loadline.auction.data.DataGenerator;
import dev.loadline.auction.data.Declined;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** The form of {@code /register} (static), posted back, makes a user and leads to {@code /registered}. */
final class RegisterUser extends FormPage<User> {
    static final String FORM = "/register";

    RegisterUser(Store store, StaticFiles files) {
        super(store, files, FORM);
    }

    @Override
    User find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.catalog().user(visit.userOr(FORM).id()).orElseThrow(() -> Refusal.notFound("You are no longer registered."));
    }

    @Override
    Html render(User user, Visit visit) {
        return new Html("registered", "Welcome, " + user.firstName()).raw("<p>You are registered as ")
            .link("/user?id=", user.id(), user.nickname()).raw(" in ").text(user.region()).raw(" since ").time(user.since())
            .raw(", and logged in.</p>\n<p><a href=\"/browse\">Browse</a>, or <a href=\"/sell/categories\">sell something</a>.</p>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, Declined, SQLException {
        String nickname = Parameters.optionalText(request, "nickname", 40);
        if (nickname.matches("\\d+")) {
            throw Refusal.badRequest("A nickname needs something besides digits: numbers are users' numbers.");
        }
        Named user = store.members().register(nickname, Parameters.text(request, "first_name", 20),
            Parameters.text(request, "last_name", 24), Parameters.text(request, "email", 60),
            Parameters.text(request, "password", 80), Parameters.number(request, "region", 1, DataGenerator.REGIONS));
        visit.login(request, user);
        return "/registered";
    }

    /** The static form. */
    static String form() {
        var html = new Html("register", "Register").raw("<p>Bidding, buying, selling and saying something needs a name.</p>\n"
            + "<form method=\"post\" action=\"/register\">\n")
            .field("First name", "first_name", "text", "maxlength=\"20\" required")
            .field("Last name", "last_name", "text", "maxlength=\"24\" required")
            .field("Nickname, or nothing to be given one", "nickname", "text", "maxlength=\"40\"")
            .field("E-mail", "email", "email", "maxlength=\"60\" required")
            .field("Password", "password", "password", "maxlength=\"80\" required")
            .raw("<p><label>Region <select name=\"region\">\n");
        for (int id = 1; id <= DataGenerator.REGIONS; id++) {
            html.raw("<option value=\"").raw(id).raw("\">").text(DataGenerator.region(id)).raw("</option>\n");
        }
        return html.raw("</select></label></p>\n<p><button>Register</button></p>\n</form>\n").end(null);
    }
}
