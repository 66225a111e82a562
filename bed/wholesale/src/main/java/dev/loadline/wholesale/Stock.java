package dev.loadline.wholesale;

/** What one warehouse has of one item. Its monitor guards it: other warehouses may take from it. */
final class Stock {
    /** Below this a replenishment of as many as arrive at once comes in (TPC-C 2.4.2.2). */
    private static final int LOW = 10;
    private static final int REPLENISHMENT = 91;

    final int item;
    private final String[] districtInfo;
    private final String data;
    private int quantity;
    private long sold;
    private int orders;
    private int remoteOrders;

    Stock(int item, int quantity, String[] districtInfo, String data) {
        this.item = item;
        this.quantity = quantity;
        this.districtInfo = districtInfo;
        this.data = data;
    }

    /** Takes {@code wanted} pieces and returns what is printed on a district's labels. */
    synchronized String take(int wanted, int district, boolean remote) {
        quantity -= wanted;
        if (quantity < LOW) {
            quantity += REPLENISHMENT;
        }
        sold += wanted;
        orders++;
        if (remote) {
            remoteOrders++;
        }
        return districtInfo[district];
    }

    synchronized int quantity() {
        return quantity;
    }

    synchronized long sold() {
        return sold;
    }

    /** How many order lines took from it, and how many of these were other warehouses'. */
    synchronized int[] orders() {
        return new int[] {orders, remoteOrders};
    }

    boolean isOriginal() {
        return data.contains("ORIGINAL");
    }
}
