package dev.loadline.auction.data;

import static dev.loadline.auction.data.Sql.one;
import static dev.loadline.auction.data.Sql.time;
import static dev.loadline.auction.data.Sql.update;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * What changes the data: bids, purchases, comments, new items. Each is one transaction that locks
 * the row it decides on before it looks, so that of two bids at once the second sees the first.
 */
public final class Market {
    /** A bid is at least so much above the highest. */
    public static final int LEAST_STEP_CENTS = 10;
    /** No price is higher. */
    public static final int HIGHEST_CENTS = 1_000_000_000;

    private static final String LOCK_ITEM = "SELECT initial_cents, max_bid_cents, quantity, buy_now_cents, end_time"
        + " FROM items WHERE id = ? FOR UPDATE";
    private static final String RAISE = "UPDATE items SET max_bid_cents = ?, bid_count = bid_count + 1 WHERE id = ?";
    private static final String ADD_BID = "INSERT INTO bids (item, bidder, quantity, cents, placed) VALUES (?, ?, ?, ?, ?)";
    private static final String TAKE = "UPDATE items SET quantity = ?, end_time = ? WHERE id = ?";
    private static final String ADD_PURCHASE = "INSERT INTO buy_now (item, buyer, quantity, bought) VALUES (?, ?, ?, ?)";
    private static final String RATE = "UPDATE users SET rating = rating + ? WHERE id = ?";
    private static final String ADD_COMMENT = "INSERT INTO comments (author, about, item, rating, written, text)"
        + " VALUES (?, ?, ?, ?, ?, ?)";
    private static final String ADD_ITEM = "INSERT INTO items (name, description, category, region, seller, initial_cents,"
        + " reserve_cents, buy_now_cents, quantity, bid_count, max_bid_cents, start_time, end_time)"
        + " SELECT ?, ?, ?, region, ?, ?, ?, ?, ?, 0, 0, ?, ? FROM users WHERE id = ?";

    private final DataSource source;
    private final SiteClock clock;

    Market(DataSource source, SiteClock clock) {
        this.source = source;
        this.clock = clock;
    }

    /**
     * What a seller fills in; prices in cents, 0 for no reserve and no buy-now price.
     */
    public record NewItem(String name, String description, int category, int initialCents, int reserveCents,
                          int buyNowCents, int days, int quantity) {
    }

    private record Locked(int initialCents, int maxBidCents, int quantity, int buyNowCents, LocalDateTime end) {
        int priceCents() {
            return Math.max(initialCents, maxBidCents);
        }
    }

    private Locked lock(Connection c, int item) throws SQLException, Declined {
        Optional<Locked> row = one(c, LOCK_ITEM,
            r -> new Locked(r.getInt(1), r.getInt(2), r.getInt(3), r.getInt(4), time(r, 5)), item);
        if (row.isEmpty() || row.get().end.isBefore(clock.now())) {
            throw new Declined("This auction has ended.");
        }
        return row.get();
    }

    /** Bids {@code raiseCents} more than whatever is highest at that moment; returns the price bid, in cents. */
    public int raise(int bidder, int item, int quantity, int raiseCents) throws SQLException, Declined {
        return store(bidder, item, quantity, raiseCents, 0);
    }

    /** Bids {@code cents}, if that is still enough. */
    public int bid(int bidder, int item, int quantity, int cents) throws SQLException, Declined {
        return store(bidder, item, quantity, 0, cents);
    }

    private int store(int bidder, int item, int quantity, int raiseCents, int fixedCents) throws SQLException, Declined {
        return Sql.transaction(source, c -> {
            Locked row = lock(c, item);
            if (quantity > row.quantity) {
                throw new Declined("There are only " + row.quantity + " left.");
            }
            int cents = fixedCents > 0 ? fixedCents : row.priceCents() + raiseCents;
            if (cents < row.priceCents() + LEAST_STEP_CENTS || cents > HIGHEST_CENTS) {
                throw new Declined("Somebody has bid as much, or the bid is beyond what the site takes.");
            }
            update(c, RAISE, cents, item);
            Sql.insert(c, ADD_BID, item, bidder, quantity, cents, clock.now());
            return cents;
        });
    }

    /** Buys at the buy-now price. */
    public void buy(int buyer, int item, int quantity) throws SQLException, Declined {
        Sql.transaction(source, c -> {
            Locked row = lock(c, item);
            if (row.buyNowCents == 0) {
                throw new Declined("This item is sold to the highest bidder only.");
            }
            if (quantity > row.quantity) {
                throw new Declined("There are only " + row.quantity + " left.");
            }
            LocalDateTime now = clock.now();
            // The last one ends the auction.
            update(c, TAKE, row.quantity - quantity, quantity == row.quantity ? now : row.end, item);
            return Sql.insert(c, ADD_PURCHASE, item, buyer, quantity, now);
        });
    }

    /** Says something about a user and changes their rating; false if there is no such user. */
    public boolean comment(int author, int about, int item, int rating, String text) throws SQLException, Declined {
        return Sql.transaction(source, c -> {
            // The update first: its lock on the user's row is the one that the new comment's reference needs.
            if (update(c, RATE, rating, about) == 0) {
                return false;
            }
            Sql.insert(c, ADD_COMMENT, author, about, item, rating, clock.now(), text);
            return true;
        });
    }

    /** Offers an item; returns its id. */
    public int sell(int seller, NewItem item) throws SQLException, Declined {
        return Sql.transaction(source, c -> {
            LocalDateTime now = clock.now();
            return Sql.insert(c, ADD_ITEM, item.name, item.description, item.category, seller, item.initialCents,
                item.reserveCents, item.buyNowCents, item.quantity, now, now.plusDays(item.days), seller);
        });
    }
}
