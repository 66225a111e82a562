package dev.loadline.auction.data;

import javax.sql.DataSource;

/**
 * Everything that the pages ask of the data.
 *
 * @param catalog what is for sale
 * @param members who is registered
 * @param market what changes hands
 */
public record Store(Catalog catalog, Members members, Market market) {
    /** All on one source of connections, with one clock. */
    public static Store on(DataSource source) {
        var clock = new SiteClock();
        return new Store(new Catalog(source, clock), new Members(source, clock), new Market(source, clock));
    }
}
