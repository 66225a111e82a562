package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Categories;
import dev.loadline.auction.data.Catalog.Named;
import dev.loadline.auction.data.DataGenerator;
import dev.loadline.auction.data.Declined;
import dev.loadline.auction.data.Market.NewItem;
import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** {@code /sell/item?category=N}: the form to offer something with; posted back (RegisterItem), it is for sale. */
final class SellItemForm extends PageServlet<Named> {
    SellItemForm(Store store) {
        super(store);
    }

    @Override
    Named find(HttpServletRequest request, Visit visit) throws Refusal, SQLException {
        int id = Parameters.id(request, "category");
        visit.userOr(SelectCategoryToSell.FORM);
        Categories all = store.catalog().categories(0).orElseThrow(() -> Refusal.notFound("There are no categories."));
        return all.all().stream().filter(c -> c.id() == id).findFirst()
            .orElseThrow(() -> Refusal.notFound("There is no such category."));
    }

    @Override
    Html render(Named category, Visit visit) {
        return new Html("sell-item", "Sell: " + category.name())
            .raw("<form method=\"post\" action=\"/sell/item\">\n").hidden("category", category.id())
            .field("Name", "name", "text", "maxlength=\"80\" required")
            .raw("<p><label>Description<br><textarea name=\"description\" rows=\"8\" cols=\"60\" maxlength=\"4000\" required>"
                + "</textarea></label></p>\n")
            .field("First price, EUR", "initial", "text", "inputmode=\"decimal\" required")
            .field("Reserve price, EUR, if any", "reserve", "text", "inputmode=\"decimal\"")
            .field("Buy-it-now price, EUR, if any", "buy_now", "text", "inputmode=\"decimal\"")
            .field("Days", "days", "number", "min=\"1\" max=\"7\" value=\"7\"")
            .field("Quantity", "quantity", "number", "min=\"1\" max=\"1000\" value=\"1\"")
            .raw("<p><button>Offer it</button></p>\n</form>\n");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) throws Refusal, Declined, SQLException {
        int seller = visit.userOr(SelectCategoryToSell.FORM).id();
        int id = store.market().sell(seller, new NewItem(Parameters.text(request, "name", 80),
            Parameters.text(request, "description", 4000), Parameters.number(request, "category", 1, DataGenerator.CATEGORIES),
            Parameters.cents(request, "initial"), Parameters.optionalCents(request, "reserve"),
            Parameters.optionalCents(request, "buy_now"), Parameters.number(request, "days", 1, 7),
            Parameters.number(request, "quantity", 1, 1000)));
        return "/sell/done?id=" + id;
    }
}
