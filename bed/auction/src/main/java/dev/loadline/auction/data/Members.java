package dev.loadline.auction.data;

import static dev.loadline.auction.data.Sql.many;
import static dev.loadline.auction.data.Sql.one;
import static dev.loadline.auction.data.Sql.time;

import dev.loadline.auction.data.Catalog.Named;
import dev.loadline.auction.data.Catalog.User;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** Registering, logging in, and what the site knows of oneself. */
public final class Members {
    private static final String BY_ID = "SELECT id, nickname, password_hash FROM users WHERE id = ?";
    static final String BY_NICKNAME = "SELECT id, nickname, password_hash FROM users WHERE nickname = ?";
    private static final String ADD = "INSERT INTO users (nickname, first_name, last_name, email, password_hash, region,"
        + " rating, member_since) VALUES (?, ?, ?, ?, ?, ?, 0, ?)";
    static final String MY_BIDS = "SELECT i.id, i.name, b.cents, i.max_bid_cents, i.end_time FROM bids b"
        + " JOIN items i ON i.id = b.item WHERE b.bidder = ? ORDER BY b.bidder, b.placed DESC LIMIT 20";
    static final String MY_PURCHASES = "SELECT i.id, i.name, b.quantity, i.buy_now_cents, b.bought FROM buy_now b"
        + " JOIN items i ON i.id = b.item WHERE b.buyer = ? ORDER BY b.buyer, b.bought DESC LIMIT 20";
    static final String WON = "SELECT id, name, quantity, max_bid_cents, end_time FROM old_items"
        + " WHERE buyer = ? ORDER BY buyer, end_time DESC LIMIT 20";
    static final String SOLD = "SELECT id, name, quantity, max_bid_cents, end_time FROM old_items"
        + " WHERE seller = ? ORDER BY seller, end_time DESC LIMIT 20";

    private final DataSource source;
    private final SiteClock clock;
    private final Catalog catalog;

    Members(DataSource source, SiteClock clock) {
        this.source = source;
        this.clock = clock;
        this.catalog = new Catalog(source, clock);
    }

    /** One of my bids, with what is highest now. */
    public record MyBid(Named item, int cents, int maxBidCents, LocalDateTime end) {
    }

    /** Something that changed hands. */
    public record Deal(Named item, int quantity, int cents, LocalDateTime at) {
    }

    /** All about one user, for that user: the latest twenty of each kind. */
    public record Me(User user, List<MyBid> bids, List<Deal> bought, List<Deal> won, List<Deal> sold) {
    }

    private record Credentials(Named user, String hash) {
    }

    /** The user of that nickname (or number), if the password is right. */
    public Optional<Named> login(String nickname, String password) throws SQLException {
        boolean numbered = nickname.matches("\\d{1,9}");
        try (Connection c = source.getConnection()) {
            return one(c, numbered ? BY_ID : BY_NICKNAME, r -> new Credentials(Catalog.named(r), r.getString(3)),
                numbered ? (Object) Integer.valueOf(nickname) : nickname)
                .filter(found -> Passwords.matches(found.user.name(), password, found.hash))
                .map(Credentials::user);
        }
    }

    /** A new user; an empty {@code nickname} gets one made from the first name. */
    public Named register(String nickname, String first, String last, String email, String password, int region)
        throws SQLException, Declined {
        String name = nickname.isEmpty()
            ? first.toLowerCase(Locale.ROOT) + "-" + Long.toString(ThreadLocalRandom.current().nextLong(1L << 48), 36) : nickname;
        try (Connection c = source.getConnection()) {
            if (!nickname.isEmpty() && one(c, BY_NICKNAME, Catalog::named, name).isPresent()) {
                throw taken(name);
            }
            int id = Sql.insert(c, ADD, name, first, last, email, Passwords.hash(name, password), region, clock.now());
            return new Named(id, name);
        } catch (SQLException e) {
            if (Sql.isDuplicate(e)) {
                // Taken by somebody else since it was looked up.
                throw taken(name);
            }
            throw e;
        }
    }

    private static Declined taken(String nickname) {
        return new Declined("The nickname " + nickname + " is taken.");
    }

    /** What the user sees of themselves; empty if there is no such user. */
    public Optional<Me> me(int id) throws SQLException {
        Optional<User> user = catalog.user(id);
        if (user.isEmpty()) {
            return Optional.empty();
        }
        try (Connection c = source.getConnection()) {
            Sql.Row<Deal> deal = r -> new Deal(Catalog.named(r), r.getInt(3), r.getInt(4), time(r, 5));
            return Optional.of(new Me(user.get(),
                many(c, MY_BIDS, r -> new MyBid(Catalog.named(r), r.getInt(3), r.getInt(4), time(r, 5)), id),
                many(c, MY_PURCHASES, deal, id), many(c, WON, deal, id), many(c, SOLD, deal, id)));
        }
    }
}
