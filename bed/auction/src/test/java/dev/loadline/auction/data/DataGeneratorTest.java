package dev.loadline.auction.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.Test;

class DataGeneratorTest {
    private static long checksum(long seed, int items, int users) throws Exception {
        try (var database = filled(seed, items, users)) {
            return Rowsum.of(database.dataSource());
        }
    }

    private static Database filled(long seed, int items, int users) throws Exception {
        var database = Database.open(Dialect.H2, 2, null);
        database.createTables();
        new DataGenerator(seed, items, 100, users).fill(database.dataSource(), Dialect.H2);
        database.createIndexes(index -> true);
        return database;
    }

    private static int count(Database database, String sql) throws Exception {
        try (var c = database.dataSource().getConnection(); var s = c.createStatement(); var r = s.executeQuery(sql)) {
            r.next();
            return r.getInt(1);
        }
    }

    /** The figure was taken on JDK 17; another JDK must reach the same. */
    @Test
    void theSameSeedGivesTheSameRowsOnEveryJdk() throws Exception {
        assertEquals(EXPECTED, checksum(1, 200, 50));
        assertEquals(EXPECTED, checksum(1, 200, 50));
    }

    private static final long EXPECTED = 1_925_199_261L;

    @Test
    void anotherSeedGivesOtherRows() throws Exception {
        assertNotEquals(checksum(1, 200, 50), checksum(2, 200, 50));
    }

    @Test
    void itemsAgreeWithTheirBids() throws Exception {
        try (var database = filled(3, 300, 40)) {
            assertEquals(300, count(database, "SELECT COUNT(*) FROM items"));
            assertEquals(0, count(database, "SELECT COUNT(*) FROM items i WHERE bid_count <>"
                + " (SELECT COUNT(*) FROM bids b WHERE b.item = i.id)"));
            assertEquals(0, count(database, "SELECT COUNT(*) FROM items i WHERE bid_count > 0 AND max_bid_cents <>"
                + " (SELECT MAX(cents) FROM bids b WHERE b.item = i.id)"));
            assertEquals(0, count(database, "SELECT COUNT(*) FROM items i JOIN users u ON u.id = i.seller"
                + " WHERE i.region <> u.region"));
        }
    }

    @Test
    void commentsAreByTheBuyerOnTheSellerOfAnEndedAuction() throws Exception {
        try (var database = filled(3, 30, 40)) {
            int comments = count(database, "SELECT COUNT(*) FROM comments");
            assertEquals(95, comments, 12);
            assertEquals(comments, count(database, "SELECT COUNT(*) FROM comments c JOIN old_items o ON o.id = c.item"
                + " AND o.seller = c.about AND o.buyer = c.author AND o.end_time <= c.written"));
        }
    }

    @Test
    void newRowsFollowAfterTheGeneratedOnes() throws Exception {
        try (var database = filled(3, 30, 40)) {
            var store = Store.on(database.dataSource());
            assertEquals(41, store.members().register("", "Ada", "Lovelace", "a@example.org", "x", 1).id());
            assertEquals(131, store.market().sell(41, new Market.NewItem("n", "d", 1, 100, 0, 0, 1, 1)));
        }
    }

    @Test
    void anItemHasAboutTwentyBids() throws Exception {
        try (var database = filled(4, 1000, 40)) {
            // Uniform from 0 to 40: mean 20, standard error 0.37; four of them.
            assertEquals(20.0, count(database, "SELECT COUNT(*) FROM bids") / 1000.0, 1.5);
        }
    }

    @Test
    void oneItemAndOneUserAreEnough() throws Exception {
        try (var database = filled(5, 1, 1)) {
            assertEquals(1, count(database, "SELECT COUNT(*) FROM items"));
        }
    }
}
