package dev.loadline.auction.fault;

/** A pool of one connection for all worker threads: pages wait for it, one after another. */
final class SmallPool extends Fault {
    SmallPool(String name) {
        super(name);
    }

    @Override
    public int poolSize(int asked) {
        return 1;
    }
}
