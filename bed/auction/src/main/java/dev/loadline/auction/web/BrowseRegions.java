package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Named;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;
import java.util.List;

/** {@code /regions}: all regions. */
final class BrowseRegions extends PageServlet<List<Named>> {
    BrowseRegions(Store store) {
        super(store);
    }

    @Override
    List<Named> find(HttpServletRequest request, Visit visit) throws SQLException {
        return store.catalog().regions();
    }

    @Override
    Html render(List<Named> regions, Visit visit) {
        var html = new Html("regions", "Regions").raw("<p>Choose the region where you can collect.</p>\n<ul class=\"tiles\">\n");
        for (var region : regions) {
            html.raw("<li>").link("/categories?region=", region).raw("</li>\n");
        }
        return html.raw("</ul>\n");
    }
}
