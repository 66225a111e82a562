package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Categories;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /categories[?region=N]}: all categories, to search everywhere or in one region. */
final class BrowseCategories extends PageServlet<Categories> {
    BrowseCategories(Store store) {
        super(store);
    }

    @Override
    Categories find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        return store.catalog().categories(Parameters.optionalId(request, "region"))
            .orElseThrow(() -> Refusal.notFound("There is no such region."));
    }

    @Override
    Html render(Categories found, Visit visit) {
        boolean everywhere = found.region() == null;
        var html = new Html("categories", everywhere ? "Categories" : "Categories in " + found.region().name());
        html.raw("<p>Choose a category to see what is for sale.</p>\n<ul class=\"tiles\">\n");
        for (var category : found.all()) {
            html.raw("<li><img src=\"/images/icon-").raw(category.id()).raw(".png\" alt=\"\" width=\"32\" height=\"32\"> ");
            if (everywhere) {
                html.link("/search?category=", category);
            } else {
                html.link("/search?region=" + found.region().id() + "&amp;category=", category);
            }
            html.raw("</li>\n");
        }
        return html.raw("</ul>\n");
    }
}
