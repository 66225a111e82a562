package dev.loadline.auction.data;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * Fills the tables from a seed. Each row is drawn from a stream of its own, so that row 17 is the
 * same whatever the number of rows, and an item's bid count and highest bid agree with its bids.
 * The same rows go to every database.
 *
 * <p>Proportions as in RUBiS (Amza et al. 2002): 20 categories, 62 regions, about 20 bids an item,
 * and a comment on most auctions that ended.
 */
public final class DataGenerator {
    /** What the data calls now. All auctions end between one and seven days after it. */
    public static final LocalDateTime OPENING = LocalDateTime.of(2026, 1, 5, 12, 0);
    /** Number of categories. */
    public static final int CATEGORIES = Words.CATEGORIES.length;
    /** Number of regions. */
    public static final int REGIONS = Words.REGIONS.length;

    private static final int MOST_BIDS = 40;
    private static final int COMMENTED_PERCENT = 95;
    private static final int BOUGHT_PERCENT = 10;
    // Streams of one seed; a row's stream is TABLE + row.
    private static final long USERS = 1L << 40;
    private static final long ITEMS = 2L << 40;
    private static final long BIDS = 3L << 40;
    private static final long COMMENTS = 4L << 40;
    private static final long OLD_ITEMS = 5L << 40;
    private static final long PURCHASES = 6L << 40;

    private final long seed;
    private final int items;
    private final int oldItems;
    private final int users;

    /** Prepares {@code items} items for sale, {@code oldItems} ended auctions and {@code users} users of the seed. */
    public DataGenerator(long seed, int items, int oldItems, int users) {
        this.seed = seed;
        this.items = items;
        this.oldItems = oldItems;
        this.users = users;
    }

    /** The name of category {@code id}, from 1 to {@link #CATEGORIES}. */
    public static String category(int id) {
        return Words.CATEGORIES[id - 1];
    }

    /** The name of region {@code id}, from 1 to {@link #REGIONS}. */
    public static String region(int id) {
        return Words.REGIONS[id - 1];
    }

    /** The password of generated user {@code id}. */
    public static String password(int id) {
        return "password" + id;
    }

    /** Writes all rows, and makes new ones follow after them. */
    public void fill(DataSource target, Dialect dialect) throws SQLException {
        try (Connection connection = target.getConnection()) {
            connection.setAutoCommit(false);
            try (var rows = Rows.into(connection, dialect, "categories", 2)) {
                names(rows, Words.CATEGORIES);
            }
            try (var rows = Rows.into(connection, dialect, "regions", 2)) {
                names(rows, Words.REGIONS);
            }
            try (var rows = Rows.into(connection, dialect, "users", 9)) {
                users(rows);
            }
            try (var rows = Rows.into(connection, dialect, "items", 14)) {
                items(rows);
            }
            int bids;
            try (var rows = Rows.into(connection, dialect, "bids", 6)) {
                bids = bids(rows);
            }
            try (var rows = Rows.into(connection, dialect, "old_items", 14)) {
                oldItems(rows);
            }
            int comments;
            try (var rows = Rows.into(connection, dialect, "comments", 7)) {
                comments = comments(rows);
            }
            int purchases;
            try (var rows = Rows.into(connection, dialect, "buy_now", 5)) {
                purchases = purchases(rows);
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute(dialect.restart("users", users + 1));
                statement.execute(dialect.restart("items", items + oldItems + 1));
                statement.execute(dialect.restart("bids", bids + 1));
                statement.execute(dialect.restart("comments", comments + 1));
                statement.execute(dialect.restart("buy_now", purchases + 1));
            }
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private void names(Rows rows, String[] names) throws SQLException {
        for (int id = 1; id <= names.length; id++) {
            rows.row(id, names[id - 1]);
        }
    }

    private void users(Rows rows) throws SQLException {
        for (int id = 1; id <= users; id++) {
            var dice = new Dice(seed, USERS + id);
            String first = dice.of(Words.FIRST);
            String last = dice.of(Words.LAST);
            String nickname = first.toLowerCase(Locale.ROOT) + id;
            rows.row(id, nickname, first, last, nickname + "@example.org", Passwords.hash(nickname, password(id)),
                regionOf(id), dice.between(-3, 60), OPENING.minusDays(dice.between(10, 2000)));
        }
    }

    /** A user's region, from a stream of its own because items need it too. */
    private int regionOf(int user) {
        return new Dice(seed, USERS + (1L << 39) + user).between(1, REGIONS);
    }

    private void items(Rows rows) throws SQLException {
        for (int id = 1; id <= items; id++) {
            var dice = new Dice(seed, ITEMS + id);
            String name = name(dice, id);
            int seller = dice.between(1, users);
            int initial = initialCents(id);
            var bids = new BidStream(id);
            while (bids.advance()) {
                // Only its end is wanted: how many, and the highest.
            }
            // Many of each, so that a long test of buying does not find everything sold.
            rows.row(id, name, description(dice), dice.between(1, CATEGORIES), regionOf(seller), seller, initial,
                initial * 2, initial * 20, dice.between(20, 1000), bids.count, bids.cents,
                OPENING.minusMinutes(dice.between(60, 7 * 1440)), OPENING.plusMinutes(dice.between(1440, 7 * 1440)));
        }
    }

    private static String name(Dice dice, int id) {
        return dice.of(Words.ADJECTIVES) + " " + dice.of(Words.NOUNS) + ", no. " + id;
    }

    private void oldItems(Rows rows) throws SQLException {
        for (int id = items + 1; id <= items + oldItems; id++) {
            var dice = new Dice(seed, OLD_ITEMS + id);
            var deal = new OldDeal(id);
            String name = name(dice, id);
            int initial = dice.between(100, 20_000);
            int bids = dice.between(1, MOST_BIDS);
            rows.row(id, name, description(dice), dice.between(1, CATEGORIES), regionOf(deal.seller), deal.seller,
                deal.buyer, initial, initial * 20, 1, bids, initial + bids * dice.between(10, 500),
                deal.end.minusDays(dice.between(1, 7)), deal.end);
        }
    }

    /** Who sold to whom and when, from a stream of its own because the comment needs it too. */
    private final class OldDeal {
        final int seller;
        final int buyer;
        final LocalDateTime end;

        OldDeal(int item) {
            var dice = new Dice(seed, OLD_ITEMS + (1L << 39) + item);
            seller = dice.between(1, users);
            buyer = dice.between(1, users);
            end = OPENING.minusMinutes(dice.between(60, 500_000));
        }
    }

    private String description(Dice dice) {
        var text = new StringBuilder();
        int sentences = dice.between(6, 24);
        for (int i = 0; i < sentences; i++) {
            text.append(dice.of(Words.SENTENCES)).append(' ');
        }
        return text.toString().strip();
    }

    private int initialCents(int item) {
        return new Dice(seed, ITEMS + (1L << 39) + item).between(100, 20_000);
    }

    private int bids(Rows rows) throws SQLException {
        int id = 0;
        for (int item = 1; item <= items; item++) {
            var bids = new BidStream(item);
            while (bids.advance()) {
                rows.row(++id, item, bids.bidder, 1, bids.cents, OPENING.minusMinutes(bids.minutesAgo));
            }
        }
        return id;
    }

    /** The bids of one item, in rising order, each by some user. */
    private final class BidStream {
        private final Dice dice;
        private int left;
        int count;
        int cents;
        int bidder;
        int minutesAgo;

        BidStream(int item) {
            dice = new Dice(seed, BIDS + item);
            left = dice.between(0, MOST_BIDS);
            cents = initialCents(item);
        }

        boolean advance() {
            if (left == 0) {
                return false;
            }
            cents += dice.between(10, 500);
            bidder = dice.between(1, users);
            minutesAgo = left * 60 + dice.below(60);
            left--;
            count++;
            return true;
        }
    }

    private int comments(Rows rows) throws SQLException {
        int id = 0;
        for (int item = items + 1; item <= items + oldItems; item++) {
            var dice = new Dice(seed, COMMENTS + item);
            if (dice.between(1, 100) <= COMMENTED_PERCENT) {
                var deal = new OldDeal(item);
                String text = dice.of(Words.REMARKS) + " " + dice.of(Words.REMARKS);
                rows.row(++id, deal.buyer, deal.seller, item, dice.between(-5, 5), deal.end.plusMinutes(dice.below(60)), text);
            }
        }
        return id;
    }

    private int purchases(Rows rows) throws SQLException {
        int id = 0;
        for (int item = 1; item <= items; item++) {
            var dice = new Dice(seed, PURCHASES + item);
            if (dice.between(1, 100) <= BOUGHT_PERCENT) {
                rows.row(++id, item, dice.between(1, users), dice.between(1, 3), OPENING.minusMinutes(dice.between(1, 60)));
            }
        }
        return id;
    }
}
