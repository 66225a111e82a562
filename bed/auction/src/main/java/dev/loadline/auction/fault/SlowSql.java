package dev.loadline.auction.fault;

/** No index on the bids' item: every bid history reads all bids of all items. */
final class SlowSql extends Fault {
    SlowSql(String name) {
        super(name);
    }

    /** The reference goes as well: MariaDB and H2 would make an index for it. */
    @Override
    public boolean wants(String index) {
        return !index.contains("bids_by_item") && !index.contains("bids_item");
    }
}
