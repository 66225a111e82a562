package dev.loadline.auction.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CatalogTest {
    private static Database database;
    private static Catalog catalog;

    @BeforeAll
    static void fill() throws Exception {
        database = Database.open(Dialect.H2, 2, null);
        database.createTables();
        new DataGenerator(1, 3000, 1000, 500).fill(database.dataSource(), Dialect.H2);
        database.createIndexes(index -> true);
        catalog = new Catalog(database.dataSource(), new SiteClock());
    }

    @AfterAll
    static void close() throws Exception {
        database.close();
    }

    @Test
    void noQueryScansATable() throws Exception {
        for (String sql : List.of(Catalog.CATEGORY, Catalog.REGION, Catalog.IN_CATEGORY, Catalog.IN_REGION, Catalog.ITEM,
            Catalog.BIDS, Catalog.ITEM_NAME, Catalog.USER, Catalog.COMMENTS, Catalog.SELLING,
            Catalog.OLD_ITEM, Catalog.OLD_ITEM_NAME, Members.BY_NICKNAME, Members.MY_BIDS, Members.MY_PURCHASES, Members.WON,
            Members.SOLD)) {
            try (var c = database.dataSource().getConnection(); var s = c.prepareStatement("EXPLAIN " + sql)) {
                try (var plan = s.executeQuery()) {
                    plan.next();
                    assertFalse(plan.getString(1).contains("tableScan"), plan.getString(1));
                }
            }
        }
    }

    @Test
    void listsComeOutOfTheirIndexInOrder() throws Exception {
        for (String sql : List.of(Catalog.IN_CATEGORY, Catalog.IN_REGION, Catalog.BIDS, Catalog.COMMENTS, Members.MY_BIDS,
            Members.MY_PURCHASES, Members.WON, Members.SOLD)) {
            try (var c = database.dataSource().getConnection(); var s = c.prepareStatement("EXPLAIN " + sql)) {
                try (var plan = s.executeQuery()) {
                    plan.next();
                    assertTrue(plan.getString(1).contains("index sorted"), plan.getString(1));
                }
            }
        }
    }

    @Test
    void thePagesOfACategoryShowEachItemOnceSoonestFirst() throws Exception {
        var seen = new HashSet<Integer>();
        var last = DataGenerator.OPENING;
        for (int page = 0; ; page++) {
            var items = catalog.search(3, 0, page).orElseThrow().items();
            for (var item : items) {
                assertTrue(seen.add(item.id()), "item " + item.id() + " twice");
                assertFalse(item.end().isBefore(last));
                last = item.end();
            }
            if (items.size() < Catalog.PAGE_SIZE) {
                break;
            }
        }
        try (var c = database.dataSource().getConnection(); var s = c.createStatement();
             var r = s.executeQuery("SELECT COUNT(*) FROM items WHERE category = 3")) {
            r.next();
            assertEquals(r.getInt(1), seen.size());
        }
    }

    @Test
    void bidsAreListedHighestFirst() throws Exception {
        var bids = catalog.bids(17).orElseThrow().bids();
        assertEquals(catalog.item(17).orElseThrow().bids(), bids.size());
        for (int i = 1; i < bids.size(); i++) {
            assertTrue(bids.get(i).cents() < bids.get(i - 1).cents());
        }
    }

    @Test
    void whatIsUnknownIsEmpty() throws Exception {
        assertTrue(catalog.item(4001).isEmpty());
        assertTrue(catalog.bids(4001).isEmpty());
        assertTrue(catalog.user(501).isEmpty());
        assertTrue(catalog.search(21, 0, 0).isEmpty());
        assertTrue(catalog.search(1, 63, 0).isEmpty());
        assertTrue(catalog.categories(63).isEmpty());
    }
}
