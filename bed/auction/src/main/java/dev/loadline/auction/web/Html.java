package dev.loadline.auction.web;

import dev.loadline.auction.data.Catalog.Named;
import dev.loadline.auction.data.DataGenerator;
import java.time.LocalDateTime;

/**
 * A page being written. Text from the database goes through {@link #text}, which escapes it;
 * {@link #raw} takes only what this application wrote itself.
 */
final class Html {
    /** The categories beside every page. They never change while a site runs, so they are written once. */
    private static final String SIDE = side();

    private final StringBuilder out = new StringBuilder(8192);

    /** Begins a page; {@code marker} becomes the body's id, by which clients know the page. */
    Html(String marker, String title) {
        raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>").text(title)
            .raw(" - The Auction</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n"
                + "<link rel=\"icon\" href=\"/images/logo.png\">\n</head>\n<body id=\"").raw(marker).raw("\">\n"
                + "<header>\n<a class=\"logo\" href=\"/\"><img src=\"/images/logo.png\" alt=\"The Auction\" width=\"160\" "
                + "height=\"24\"></a>\n<nav>\n<ul>\n<li><a href=\"/\">Home</a></li>\n"
                + "<li><a href=\"/browse\">Browse</a></li>\n<li><a href=\"/categories\">All categories</a></li>\n"
                + "<li><a href=\"/regions\">All regions</a></li>\n<li><a href=\"/sell\">Sell</a></li>\n"
                + "<li><a href=\"/register\">Register</a></li>\n<li><a href=\"/me/login\">About me</a></li>\n<li><a href=\"/about.html\">About</a></li>\n"
                + "</ul>\n</nav>\n</header>\n").raw(SIDE).raw("<main>\n<h1>").text(title).raw("</h1>\n");
    }

    private static String side() {
        var side = new StringBuilder("<aside>\n<h2>Categories</h2>\n<ul>\n");
        for (int id = 1; id <= DataGenerator.CATEGORIES; id++) {
            side.append("<li><a href=\"/search?category=").append(id).append("\">").append(DataGenerator.category(id))
                .append("</a></li>\n");
        }
        return side.append("</ul>\n</aside>\n").toString();
    }

    Html raw(String html) {
        out.append(html);
        return this;
    }

    Html raw(int number) {
        out.append(number);
        return this;
    }

    /** Escaped for element content and for quoted attributes. */
    Html text(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> out.append(c);
            }
        }
        return this;
    }

    Html money(int cents) {
        return decimal(cents).raw(" EUR");
    }

    /** Cents as euros, in digits alone. */
    Html decimal(int cents) {
        out.append(cents / 100).append('.');
        if (cents % 100 < 10) {
            out.append('0');
        }
        out.append(cents % 100);
        return this;
    }

    /** A day and a minute, written by hand because DateTimeFormatter costs as much as the rest of a row. */
    Html time(LocalDateTime t) {
        out.append(t.getYear());
        return two('-', t.getMonthValue()).two('-', t.getDayOfMonth()).two(' ', t.getHour()).two(':', t.getMinute());
    }

    private Html two(char before, int number) {
        out.append(before).append((char) ('0' + number / 10)).append((char) ('0' + number % 10));
        return this;
    }

    Html link(String path, Named to) {
        return link(path, to.id(), to.name());
    }

    Html link(String path, int id, String name) {
        return raw("<a href=\"").raw(path).raw(id).raw("\">").text(name).raw("</a>");
    }

    /** A field that the visitor does not see. */
    Html hidden(String name, int value) {
        return raw("<input type=\"hidden\" name=\"").raw(name).raw("\" value=\"").raw(value).raw("\">\n");
    }

    /** A field to fill in, with more attributes or an initial value in {@code more}. */
    Html field(String label, String name, String type, String more) {
        return raw("<p><label>").raw(label).raw(" <input type=\"").raw(type).raw("\" name=\"").raw(name).raw("\" ").raw(more)
            .raw("></label></p>\n");
    }

    /** The two fields of a login. */
    Html login() {
        return field("Nickname", "nickname", "text", "maxlength=\"40\" autocomplete=\"username\" required")
            .field("Password", "password", "password", "maxlength=\"80\" autocomplete=\"current-password\" required");
    }

    /** Ends the page; {@code user} is who is logged in, or null. */
    String end(Named user) {
        if (user != null) {
            raw("<form class=\"visitor\" method=\"post\" action=\"/logout\">Logged in as ").link("/user?id=", user)
                .raw(" <button>Log out</button></form>\n");
        }
        raw("</main>\n<footer>\n<p>The Auction is a test bed: nothing here is for sale, nobody here exists, and every price is "
            + "drawn from a seed. What you see is what every other run with this seed sees.</p>\n<p><a href=\"/about.html\">"
            + "How it is made</a> - <a href=\"/categories\">Categories</a> - <a href=\"/regions\">Regions</a></p>\n"
            + "</footer>\n</body>\n</html>\n");
        return out.toString();
    }
}
