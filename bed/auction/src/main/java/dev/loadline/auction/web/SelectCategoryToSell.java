package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Named;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;
import java.util.List;

/** The form of {@code /sell} (static), posted back, logs in and leads to {@code /sell/categories}. */
final class SelectCategoryToSell extends FormPage<List<Named>> {
    static final String FORM = "/sell";

    SelectCategoryToSell(Store store, StaticFiles files) {
        super(store, files, FORM);
    }

    @Override
    List<Named> find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        visit.userOr(FORM);
        return store.catalog().categories(0).orElseThrow(() -> Refusal.notFound("There are no categories.")).all();
    }

    @Override
    Html render(List<Named> categories, Visit visit) {
        var html = new Html("sell-categories", "What do you sell?").raw("<ul class=\"tiles\">\n");
        for (var category : categories) {
            html.raw("<li><img src=\"/images/icon-").raw(category.id()).raw(".png\" alt=\"\" width=\"32\" height=\"32\"> ")
                .link("/sell/item?category=", category).raw("</li>\n");
        }
        return html.raw("</ul>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        Login.of(request, visit, store);
        return "/sell/categories";
    }

    /** The static form. */
    static String form() {
        return new Html("sell", "Sell").raw("<p>Whoever sells is known by name. Please say who you are.</p>\n"
            + "<form method=\"post\" action=\"/sell\">\n").login()
            .raw("<p><button>Go on</button></p>\n</form>\n<p>New here? <a href=\"/register\">Register</a></p>\n").end(null);
    }
}
