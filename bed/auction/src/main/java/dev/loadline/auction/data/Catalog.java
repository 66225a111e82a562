package dev.loadline.auction.data;

import static dev.loadline.auction.data.Sql.many;
import static dev.loadline.auction.data.Sql.one;
import static dev.loadline.auction.data.Sql.time;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * What the pages ask the database. Each method takes a connection, reads all it needs, and gives
 * the connection back before it returns: no page holds one while it renders.
 */
public final class Catalog {
    /** Items on one page of search results. */
    public static final int PAGE_SIZE = 20;
    /** Bids that a history shows, the highest: under load one item may collect thousands. */
    public static final int MOST_BIDS = 100;
    private static final int MOST_COMMENTS = 50;

    static final String CATEGORY = "SELECT id, name FROM categories WHERE id = ?";
    static final String REGION = "SELECT id, name FROM regions WHERE id = ?";
    static final String IN_CATEGORY = "SELECT id, name, initial_cents, max_bid_cents, bid_count, end_time FROM items"
        + " WHERE category = ? AND end_time >= ? ORDER BY category, end_time, id LIMIT ? OFFSET ?";
    static final String IN_REGION = "SELECT id, name, initial_cents, max_bid_cents, bid_count, end_time FROM items"
        + " WHERE region = ? AND category = ? AND end_time >= ? ORDER BY region, category, end_time, id LIMIT ? OFFSET ?";
    static final String ITEM = "SELECT i.id, i.name, i.description, i.category, c.name, i.seller, u.nickname,"
        + " i.initial_cents, i.buy_now_cents, i.quantity, i.bid_count, i.max_bid_cents, i.start_time, i.end_time"
        + " FROM items i JOIN users u ON u.id = i.seller JOIN categories c ON c.id = i.category WHERE i.id = ?";
    static final String OLD_ITEM = ITEM.replace("FROM items", "FROM old_items");
    static final String BIDS = "SELECT b.bidder, u.nickname, b.cents, b.quantity, b.placed FROM bids b"
        + " JOIN users u ON u.id = b.bidder WHERE b.item = ? ORDER BY b.item, b.cents DESC LIMIT " + MOST_BIDS;
    static final String ITEM_NAME = "SELECT id, name FROM items WHERE id = ?";
    static final String OLD_ITEM_NAME = "SELECT id, name FROM old_items WHERE id = ?";
    static final String USER = "SELECT u.id, u.nickname, u.first_name, u.last_name, r.name, u.rating, u.member_since"
        + " FROM users u JOIN regions r ON r.id = u.region WHERE u.id = ?";
    static final String COMMENTS = "SELECT c.author, u.nickname, c.rating, c.written, c.text FROM comments c"
        + " JOIN users u ON u.id = c.author WHERE c.about = ? ORDER BY c.about, c.written DESC LIMIT " + MOST_COMMENTS;
    static final String SELLING = "SELECT id, name FROM items WHERE seller = ? AND end_time >= ? ORDER BY end_time LIMIT 10";

    private final DataSource source;
    private final SiteClock clock;

    /** Queries this source. */
    public Catalog(DataSource source, SiteClock clock) {
        this.source = source;
        this.clock = clock;
    }

    /** A thing with a name: category, region, or an item where no more is shown. */
    public record Named(int id, String name) {
    }

    /** An item as a search shows it. */
    public record Listed(int id, String name, int initialCents, int maxBidCents, int bids, LocalDateTime end) {
    }

    /** An item as its own page shows it. */
    public record Item(int id, String name, String description, Named category, Named seller, int initialCents,
                       int buyNowCents, int quantity, int bids, int maxBidCents, LocalDateTime start,
                       LocalDateTime end) {
        /** What the item costs at present. */
        public int priceCents() {
            return Math.max(initialCents, maxBidCents);
        }
    }

    /** One bid. */
    public record Bid(Named bidder, int cents, int quantity, LocalDateTime placed) {
    }

    /** An item's highest bids; of one whose auction has ended ({@code old}), none are kept. */
    public record History(Named item, boolean old, List<Bid> bids) {
    }

    /** What one user said about another. */
    public record Comment(Named author, int rating, LocalDateTime written, String text) {
    }

    /** A user with what is public about them. */
    public record User(int id, String nickname, String firstName, String lastName, String region, int rating,
                       LocalDateTime since, List<Comment> comments, List<Named> selling) {
    }

    /** The search results of a category (and region, or null for all), one page. */
    public record Results(Named category, Named region, List<Listed> items) {
    }

    /** All categories, and the region's name if one is given. */
    public record Categories(List<Named> all, Named region) {
    }

    /** Every category; empty if {@code region} (0: none) is unknown. */
    public Optional<Categories> categories(int region) throws SQLException {
        try (Connection c = source.getConnection()) {
            Named where = region == 0 ? null : one(c, REGION, Catalog::named, region).orElse(null);
            if (region != 0 && where == null) {
                return Optional.empty();
            }
            return Optional.of(new Categories(
                many(c, "SELECT id, name FROM categories ORDER BY id", Catalog::named), where));
        }
    }

    /** Every region. */
    public List<Named> regions() throws SQLException {
        try (Connection c = source.getConnection()) {
            return many(c, "SELECT id, name FROM regions ORDER BY id", Catalog::named);
        }
    }

    /** Page {@code page} (from 0) of a category, in one region or (0) in all; empty if either is unknown. */
    public Optional<Results> search(int category, int region, int page) throws SQLException {
        try (Connection c = source.getConnection()) {
            Named what = one(c, CATEGORY, Catalog::named, category).orElse(null);
            Named where = region == 0 ? null : one(c, REGION, Catalog::named, region).orElse(null);
            if (what == null || (region != 0 && where == null)) {
                return Optional.empty();
            }
            LocalDateTime now = clock.now();
            long offset = (long) page * PAGE_SIZE;
            List<Listed> found = where == null
                ? many(c, IN_CATEGORY, Catalog::listed, category, now, PAGE_SIZE, offset)
                : many(c, IN_REGION, Catalog::listed, region, category, now, PAGE_SIZE, offset);
            return Optional.of(new Results(what, where, found));
        }
    }

    /** One item, for sale or ended. */
    public Optional<Item> item(int id) throws SQLException {
        try (Connection c = source.getConnection()) {
            Optional<Item> current = one(c, ITEM, Catalog::itemOf, id);
            return current.isPresent() ? current : one(c, OLD_ITEM, Catalog::itemOf, id);
        }
    }

    /** Whether it can still be bid on. */
    public boolean isOpen(Item item) {
        return !item.end().isBefore(clock.now());
    }

    private static Item itemOf(ResultSet r) throws SQLException {
        return new Item(r.getInt(1), r.getString(2), r.getString(3), new Named(r.getInt(4), r.getString(5)),
            new Named(r.getInt(6), r.getString(7)), r.getInt(8), r.getInt(9), r.getInt(10), r.getInt(11), r.getInt(12),
            time(r, 13), time(r, 14));
    }

    /** The bids of one item. */
    public Optional<History> bids(int item) throws SQLException {
        try (Connection c = source.getConnection()) {
            Optional<Named> of = one(c, ITEM_NAME, Catalog::named, item);
            if (of.isPresent()) {
                return Optional.of(new History(of.get(), false, many(c, BIDS,
                    r -> new Bid(named(r), r.getInt(3), r.getInt(4), time(r, 5)), item)));
            }
            return one(c, OLD_ITEM_NAME, Catalog::named, item).map(old -> new History(old, true, List.of()));
        }
    }

    /** One user. */
    public Optional<User> user(int id) throws SQLException {
        try (Connection c = source.getConnection()) {
            List<Comment> comments = many(c, COMMENTS,
                r -> new Comment(named(r), r.getInt(3), time(r, 4), r.getString(5)), id);
            List<Named> selling = many(c, SELLING, Catalog::named, id, clock.now());
            return one(c, USER, r -> new User(r.getInt(1), r.getString(2), r.getString(3), r.getString(4),
                r.getString(5), r.getInt(6), time(r, 7), comments, selling), id);
        }
    }

    static Named named(ResultSet row) throws SQLException {
        return new Named(row.getInt(1), row.getString(2));
    }

    private static Listed listed(ResultSet row) throws SQLException {
        return new Listed(row.getInt(1), row.getString(2), row.getInt(3), row.getInt(4), row.getInt(5), time(row, 6));
    }
}
