package dev.loadline.wholesale;

import java.util.List;

/** An order of one customer: its lines are fixed, its carrier comes with the delivery. */
final class Order {
    /** One item of it; {@code amount} in cents. */
    record Line(int item, int supplier, int quantity, long amount, String label) {
    }

    final int id;
    final Customer customer;
    final List<Line> lines;
    /** Cents, after the customer's discount, with taxes. */
    final long total;
    private int carrier;

    Order(int id, Customer customer, List<Line> lines, long total) {
        this.id = id;
        this.customer = customer;
        this.lines = lines;
        this.total = total;
    }

    boolean delivered() {
        return carrier != 0;
    }

    int carrier() {
        return carrier;
    }

    void deliver(int by) {
        carrier = by;
    }
}
