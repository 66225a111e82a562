package dev.loadline.wholesale;

/** A customer of a district. Its monitor guards its account: other warehouses may take its payments. */
final class Customer {
    /** Of {@link #data}; a customer of bad credit has its last payments written before it (TPC-C 2.5.2.2). */
    private static final int DATA_LENGTH = 500;

    final int id;
    final String first;
    final String last;
    final boolean badCredit;
    /** Hundredths of a percent. */
    final int discount;
    private String data;
    private long balance;
    private long paid;
    private int payments;
    private int deliveries;
    private Order lastOrder;

    Customer(int id, String first, String last, boolean badCredit, int discount, String data) {
        this.id = id;
        this.first = first;
        this.last = last;
        this.badCredit = badCredit;
        this.discount = discount;
        this.data = data;
    }

    synchronized long pay(long cents, int warehouse, int district) {
        balance -= cents;
        paid += cents;
        payments++;
        if (badCredit) {
            String written = id + " " + warehouse + " " + district + " " + cents + "|" + data;
            data = written.substring(0, Math.min(DATA_LENGTH, written.length()));
        }
        return balance;
    }

    synchronized void delivered(long cents) {
        balance += cents;
        deliveries++;
    }

    synchronized void ordered(Order order) {
        lastOrder = order;
    }

    synchronized Order lastOrder() {
        return lastOrder;
    }

    synchronized long balance() {
        return balance;
    }

    synchronized long paid() {
        return paid;
    }

    /** How often it paid, and how often it was delivered to. */
    synchronized int[] events() {
        return new int[] {payments, deliveries};
    }

    synchronized String data() {
        return data;
    }
}
