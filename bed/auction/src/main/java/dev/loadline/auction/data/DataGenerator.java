package dev.loadline.auction.data;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.LocalDateTime;
import javax.sql.DataSource;

/**
 * Fills the tables from a seed. Each row is drawn from a stream of its own, so that row 17 is the
 * same whatever the number of rows, and an item's bid count and highest bid agree with its bids.
 *
 * <p>Proportions as in RUBiS (Amza et al. 2002): 20 categories, 62 regions, about 20 bids an item.
 */
public final class DataGenerator {
    /** What the data calls now. All auctions end between one and seven days after it. */
    public static final LocalDateTime OPENING = LocalDateTime.of(2026, 1, 5, 12, 0);
    /** Number of categories. */
    public static final int CATEGORIES = Words.CATEGORIES.length;
    /** Number of regions. */
    public static final int REGIONS = Words.REGIONS.length;

    private static final int MOST_BIDS = 40;
    private static final int COMMENTS_PER_USER = 5;
    private static final int BATCH_ROWS = 1000;
    // Streams of one seed; a row's stream is TABLE + row.
    private static final long USERS = 1L << 40;
    private static final long ITEMS = 2L << 40;
    private static final long BIDS = 3L << 40;
    private static final long COMMENTS = 4L << 40;

    private final long seed;
    private final int items;
    private final int users;

    /** Prepares {@code items} items and {@code users} users of the seed. */
    public DataGenerator(long seed, int items, int users) {
        this.seed = seed;
        this.items = items;
        this.users = users;
    }

    /** The name of category {@code id}, from 1 to {@link #CATEGORIES}. */
    public static String category(int id) {
        return Words.CATEGORIES[id - 1];
    }

    /** Writes all rows. */
    public void fill(DataSource target) throws SQLException {
        try (Connection connection = target.getConnection()) {
            connection.setAutoCommit(false);
            names(connection, "INSERT INTO categories VALUES (?, ?)", Words.CATEGORIES);
            names(connection, "INSERT INTO regions VALUES (?, ?)", Words.REGIONS);
            users(connection);
            items(connection);
            bids(connection);
            comments(connection);
            connection.setAutoCommit(true);
        }
    }

    private void names(Connection connection, String sql, String[] names) throws SQLException {
        try (var batch = new Batch(connection, sql)) {
            for (int id = 1; id <= names.length; id++) {
                batch.row(id, names[id - 1]);
            }
        }
    }

    private void users(Connection connection) throws SQLException {
        try (var batch = new Batch(connection, "INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?)")) {
            for (int id = 1; id <= users; id++) {
                var dice = new Dice(seed, USERS + id);
                String first = dice.of(Words.FIRST);
                String last = dice.of(Words.LAST);
                batch.row(id, first.toLowerCase() + id, first, last, regionOf(id), dice.between(-3, 60),
                    OPENING.minusDays(dice.between(10, 2000)));
            }
        }
    }

    /** A user's region, from a stream of its own because items need it too. */
    private int regionOf(int user) {
        return new Dice(seed, USERS + (1L << 39) + user).between(1, REGIONS);
    }

    private void items(Connection connection) throws SQLException {
        try (var batch = new Batch(connection, "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            for (int id = 1; id <= items; id++) {
                var dice = new Dice(seed, ITEMS + id);
                String name = dice.of(Words.ADJECTIVES) + " " + dice.of(Words.NOUNS) + ", no. " + id;
                int seller = dice.between(1, users);
                int initial = initialCents(id);
                var bids = new BidStream(id);
                while (bids.advance()) {
                    // Only its end is wanted: how many, and the highest.
                }
                batch.row(id, name, description(dice), dice.between(1, CATEGORIES), regionOf(seller), seller, initial,
                    initial * 20, dice.between(1, 10), bids.count, bids.cents,
                    OPENING.minusMinutes(dice.between(60, 7 * 1440)), OPENING.plusMinutes(dice.between(1440, 7 * 1440)));
            }
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

    private void bids(Connection connection) throws SQLException {
        try (var batch = new Batch(connection, "INSERT INTO bids VALUES (?, ?, ?, ?, ?, ?)")) {
            int id = 0;
            for (int item = 1; item <= items; item++) {
                var bids = new BidStream(item);
                while (bids.advance()) {
                    batch.row(++id, item, bids.bidder, 1, bids.cents, OPENING.minusMinutes(bids.minutesAgo));
                }
            }
        }
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

    private void comments(Connection connection) throws SQLException {
        try (var batch = new Batch(connection, "INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?)")) {
            for (int id = 1; id <= users * COMMENTS_PER_USER; id++) {
                var dice = new Dice(seed, COMMENTS + id);
                String text = dice.of(Words.REMARKS) + " " + dice.of(Words.REMARKS);
                batch.row(id, dice.between(1, users), dice.between(1, users), dice.between(1, items),
                    dice.between(-5, 5), OPENING.minusMinutes(dice.between(60, 500_000)), text);
            }
        }
    }

    /** Rows of one table, sent and committed a thousand at a time: a long transaction slows H2 down. */
    private static final class Batch implements AutoCloseable {
        private final Connection connection;
        private final PreparedStatement statement;
        private int pending;

        Batch(Connection connection, String sql) throws SQLException {
            this.connection = connection;
            statement = connection.prepareStatement(sql);
        }

        void row(Object... values) throws SQLException {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.addBatch();
            if (++pending == BATCH_ROWS) {
                statement.executeBatch();
                connection.commit();
                pending = 0;
            }
        }

        @Override
        public void close() throws SQLException {
            statement.executeBatch();
            statement.close();
            connection.commit();
        }
    }
}
