package dev.loadline.auction.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.sql.ResultSet;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class DataGeneratorTest {
    private static final String[] TABLES = {"categories", "regions", "users", "items", "bids", "comments"};

    /** Every cell of every table. */
    private static long checksum(long seed, int items, int users) throws Exception {
        var crc = new CRC32();
        try (var database = filled(seed, items, users); var c = database.dataSource().getConnection();
             var statement = c.createStatement()) {
            for (String table : TABLES) {
                try (ResultSet row = statement.executeQuery("SELECT * FROM " + table + " ORDER BY id")) {
                    while (row.next()) {
                        for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                            crc.update(row.getString(i).getBytes());
                            crc.update(0);
                        }
                    }
                }
            }
        }
        return crc.getValue();
    }

    private static Database filled(long seed, int items, int users) throws Exception {
        var database = new Database(2);
        database.createTables();
        new DataGenerator(seed, items, users).fill(database.dataSource());
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

    private static final long EXPECTED = 3_114_585_197L;

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
