package dev.loadline.auction;

import static dev.loadline.auction.Browser.marker;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.auction.data.Dialect;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Every interaction, over each database. Items and users differ from test to test, so that none disturbs another. */
@ParameterizedClass
@EnumSource(Dialect.class)
class InteractionsTest {
    private final Dialect dialect;
    private Auction auction;
    private Browser visitor;

    InteractionsTest(Dialect dialect) {
        this.dialect = dialect;
    }

    @BeforeEach
    void visit() throws Exception {
        auction = Sites.on(dialect);
        visitor = new Browser(auction.port());
    }

    @AfterAll
    static void stop() throws Exception {
        Sites.close();
    }

    private int count(String sql) throws Exception {
        try (var c = auction.database().connect(); var s = c.createStatement(); var r = s.executeQuery(sql)) {
            r.next();
            return r.getInt(1);
        }
    }

    @Test
    void everyDatabaseHoldsTheSameRows() throws Exception {
        assertEquals(Sites.rowsum(Dialect.H2), Sites.rowsum(dialect));
    }

    private void shows(String marker, String path) throws Exception {
        var page = visitor.get(path);
        assertEquals(marker, marker(page), path);
        assertEquals(200, page.statusCode(), path);
    }

    private void leads(String marker, String path, String... fields) throws Exception {
        var page = visitor.postAndFollow(path, fields);
        assertEquals(marker, marker(page), path + " then " + page.uri());
        assertEquals(200, page.statusCode(), path);
    }

    /** The states of RUBiS's transition tables, in their order. */
    @Test
    void all27InteractionsAnswerWithTheirMarkers() throws Exception {
        shows("home", "/");
        shows("register", "/register");
        leads("registered", "/register", "first_name", "Joan", "last_name", "O'Neill", "email", "j@example.org", "password", "s",
            "region", "3");
        shows("browse", "/browse");
        shows("categories", "/categories");
        shows("search", "/search?category=3&page=0");
        shows("regions", "/regions");
        shows("categories", "/categories?region=5");
        shows("search", "/search?region=5&category=3");
        shows("item", "/item?id=1");
        shows("user", "/user?id=1");
        shows("bids", "/bids?item=1");
        shows("buy-login", "/buy/login?item=1");
        leads("buy", "/buy/login", "item", "1", "nickname", "1", "password", "password1");
        leads("bought", "/buy", "item", "1", "quantity", "1");
        shows("bid-login", "/bid/login?item=1");
        leads("bid", "/bid/login", "item", "1", "nickname", "2", "password", "password2");
        leads("bid-stored", "/bid", "item", "1", "quantity", "1", "raise", "10");
        shows("comment-login", "/comment/login?to=3&item=1");
        leads("comment", "/comment/login", "to", "3", "item", "1", "nickname", "4", "password", "password4");
        leads("comment-stored", "/comment", "to", "3", "item", "1", "rating", "-1", "text", "It came late.");
        shows("sell", "/sell");
        leads("sell-categories", "/sell", "nickname", "5", "password", "password5");
        shows("sell-item", "/sell/item?category=7");
        leads("item-registered", "/sell/item", "category", "7", "name", "A lamp", "description", "It shines.", "initial", "5",
            "reserve", "", "buy_now", "20.50", "days", "3", "quantity", "1");
        shows("me-login", "/me/login");
        leads("me", "/me/login", "nickname", "6", "password", "password6");
    }

    @Test
    void bidsAtOnceAreCountedOneByOne() throws Exception {
        int item = 10;
        int before = count("SELECT bid_count FROM items WHERE id = 10");
        int price = count("SELECT GREATEST(max_bid_cents, initial_cents) FROM items WHERE id = 10");
        var pool = Executors.newFixedThreadPool(4);
        try {
            var bids = new ArrayList<Future<Object>>();
            for (int user = 11; user <= 14; user++) {
                var bidder = new Browser(auction.port()).loggedIn(user);
                bids.add(pool.submit(() -> {
                    for (int i = 0; i < 5; i++) {
                        assertEquals(303, bidder.post("/bid", "item", "" + item, "quantity", "1", "raise", "10").statusCode());
                    }
                    return null;
                }));
            }
            for (var bid : bids) {
                bid.get();
            }
        } finally {
            pool.shutdown();
        }
        assertEquals(before + 20, count("SELECT bid_count FROM items WHERE id = 10"));
        assertEquals(before + 20, count("SELECT COUNT(*) FROM bids WHERE item = 10"));
        assertEquals(price + 200, count("SELECT max_bid_cents FROM items WHERE id = 10"));
        assertEquals(price + 200, count("SELECT MAX(cents) FROM bids WHERE item = 10"));
    }

    private void refused(String path, String... fields) throws Exception {
        var answer = visitor.post(path, fields);
        assertEquals(409, answer.statusCode(), answer.body());
        assertEquals("refused", marker(answer));
    }

    @Test
    void aBidThatIsTooLowChangesNothing() throws Exception {
        visitor.loggedIn(15);
        int before = count("SELECT bid_count FROM items WHERE id = 20");
        refused("/bid", "item", "20", "quantity", "1", "bid", "0.50");
        int highest = count("SELECT GREATEST(max_bid_cents, initial_cents) FROM items WHERE id = 20");
        refused("/bid", "item", "20", "quantity", "1", "bid", "%d.%02d".formatted((highest + 9) / 100, (highest + 9) % 100));
        assertEquals(before, count("SELECT bid_count FROM items WHERE id = 20"));
        assertEquals(before, count("SELECT COUNT(*) FROM bids WHERE item = 20"));
    }

    @Test
    void theLastPieceEndsTheAuction() throws Exception {
        visitor.loggedIn(16);
        String[] offer = {"category", "7", "name", "Three cups", "description", "Of tin.", "initial", "5", "buy_now", "20",
            "days", "3", "quantity", "3"};
        String page = visitor.post("/sell/item", offer).headers().firstValue("Location").orElseThrow();
        String item = page.substring(page.indexOf('=') + 1);
        refused("/buy", "item", item, "quantity", "4");
        leads("bought", "/buy", "item", item, "quantity", "2");
        leads("bought", "/buy", "item", item, "quantity", "1");
        refused("/buy", "item", item, "quantity", "1");
        refused("/bid", "item", item, "quantity", "1", "raise", "10");
        assertEquals(3, count("SELECT SUM(quantity) FROM buy_now WHERE item = " + item));
        assertTrue(visitor.get("/item?id=" + item).body().contains("This auction has ended"));
    }

    @Test
    void anEndedAuctionIsShownButTakesNoBids() throws Exception {
        visitor.loggedIn(17);
        shows("item", "/item?id=450");
        refused("/bid", "item", "450", "quantity", "1", "raise", "10");
        assertEquals(409, visitor.get("/bid?item=450").statusCode());
    }

    @Test
    void aCommentChangesTheRating() throws Exception {
        int before = count("SELECT rating FROM users WHERE id = 21");
        visitor.loggedIn(18);
        leads("comment-stored", "/comment", "to", "21", "item", "3", "rating", "4", "text", "Quick.");
        assertEquals(before + 4, count("SELECT rating FROM users WHERE id = 21"));
        assertTrue(visitor.get("/user?id=21").body().contains("Quick."));
        assertEquals(404, visitor.post("/comment", "to", "9999", "item", "3", "rating", "4", "text", "x").statusCode());
    }

    @Test
    void whatVisitorsWriteIsShownAsTheyWroteItAndNeverRun() throws Exception {
        visitor.loggedIn(19);
        String name = "<script>alert('1')</script> & \\ \"ö\" 🎁";
        String page = visitor.post("/sell/item", "category", "7", "name", name, "description", "a\tb\r\n'); DROP TABLE bids; --",
            "initial", "5", "days", "3", "quantity", "3").headers().firstValue("Location").orElseThrow();
        String item = visitor.get(page.replace("/sell/done", "/item")).body();
        assertTrue(item.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; \\ &quot;ö&quot; 🎁"), item);
        assertFalse(item.contains("<script>"));
        assertTrue(item.contains("&#39;); DROP TABLE bids; --"));
    }

    @Test
    void aNicknameIsTakenOnce() throws Exception {
        String[] form = {"nickname", "zoe", "first_name", "Zoë", "last_name", "X", "email", "z@example.org", "password", "p w",
            "region", "1"};
        leads("registered", "/register", form);
        refused("/register", form);
        visitor.post("/logout");
        leads("me", "/me/login", "nickname", "zoe", "password", "p w");
        assertTrue(visitor.get("/me").body().contains("Zoë"));
    }

    @Test
    void aWrongPasswordOrNameIs403() throws Exception {
        for (String[] login : List.of(new String[] {"22", "password23"}, new String[] {"nobody", "x"}, new String[] {"99999", "x"})) {
            var answer = visitor.post("/bid/login", "item", "1", "nickname", login[0], "password", login[1]);
            assertEquals(403, answer.statusCode());
            assertEquals("error", marker(answer));
        }
        assertEquals("bid-login", marker(visitor.get(visitor.get("/bid?item=1").headers().firstValue("Location").orElseThrow())));
    }

    @Test
    void whoIsNotLoggedInIsSentToLogIn() throws Exception {
        for (String[] way : List.of(new String[] {"/bid?item=1", "bid-login"}, new String[] {"/buy?item=1", "buy-login"},
            new String[] {"/comment?to=2&item=1", "comment-login"}, new String[] {"/sell/categories", "sell"},
            new String[] {"/sell/item?category=1", "sell"}, new String[] {"/me", "me-login"}, new String[] {"/registered", "register"})) {
            var answer = visitor.get(way[0]);
            assertEquals(303, answer.statusCode(), way[0]);
            assertEquals(way[1], marker(visitor.get(answer.headers().firstValue("Location").orElseThrow())));
        }
        leads("bid-login", "/bid", "item", "1", "quantity", "1", "raise", "10");
        assertEquals(303, visitor.post("/sell/item", "category", "1").statusCode());
    }

    @Test
    void loggingInChangesTheSessionAndLoggingOutEndsIt() throws Exception {
        String before = visitor.get("/regions").headers().firstValue("Set-Cookie").orElseThrow();
        String after = visitor.post("/me/login", "nickname", "23", "password", "password23").headers().firstValue("Set-Cookie").orElseThrow();
        assertNotEquals(before.split(";")[0], after.split(";")[0]);
        shows("me", "/me");
        visitor.post("/logout");
        assertEquals(303, visitor.get("/me").statusCode());
    }

    @Test
    void aFormThatDoesNotFitIs400() throws Exception {
        visitor.loggedIn(24);
        for (String[] form : List.of(new String[] {"/bid", "item", "1", "quantity", "0", "raise", "10"},
            new String[] {"/bid", "item", "1", "quantity", "1", "raise", "9"}, new String[] {"/bid", "item", "1", "quantity", "1"},
            new String[] {"/bid", "item", "1", "quantity", "1", "bid", "1,50"}, new String[] {"/buy", "item", "1"},
            new String[] {"/comment", "to", "1", "item", "1", "rating", "6", "text", "x"},
            new String[] {"/comment", "to", "1", "item", "1", "rating", "1", "text", " "},
            new String[] {"/comment", "to", "1", "item", "1", "rating", "1", "text", "a\0b"},
            new String[] {"/sell/item", "category", "21", "name", "n", "description", "d", "initial", "1", "days", "1", "quantity", "1"},
            new String[] {"/sell/item", "category", "1", "name", "n", "description", "d", "initial", "0", "days", "1", "quantity", "1"},
            new String[] {"/register", "nickname", "17"})) {
            var answer = visitor.post(form[0], java.util.Arrays.copyOfRange(form, 1, form.length));
            assertEquals(400, answer.statusCode(), String.join(" ", form));
            assertEquals("error", marker(answer));
        }
        assertEquals(405, visitor.post("/item?id=1").statusCode());
    }

    @Test
    void aboutMeShowsWhatIDid() throws Exception {
        visitor.loggedIn(25);
        leads("bid-stored", "/bid", "item", "30", "quantity", "1", "raise", "10");
        leads("bought", "/buy", "item", "31", "quantity", "2");
        String me = visitor.get("/me").body();
        assertTrue(me.substring(me.indexOf("My latest bids"), me.indexOf("What I sell")).contains("/item?id=30\""));
        assertTrue(me.substring(me.indexOf("What I bought at once"), me.indexOf("What I won")).contains("/item?id=31\""));
    }
}
