package dev.loadline.wholesale;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A district of a warehouse: its customers, its orders. Only its warehouse's thread uses it, but for the customers' accounts. */
final class District {
    /** Delivered orders beyond these are forgotten, so that a long run needs no more memory than a short one. */
    static final int KEPT = 300;

    final int id;
    /** Hundredths of a percent. */
    final int tax;
    private final NavigableMap<Integer, Customer> customers = new TreeMap<>();
    private final Map<String, List<Customer>> byName = new TreeMap<>();
    private final NavigableMap<Integer, Order> orders = new TreeMap<>();
    private final NavigableMap<Integer, Order> undelivered = new TreeMap<>();
    private int nextOrder = 1;
    private int forgotten;
    private long paid;
    private long delivered;
    private long piecesOrdered;
    private long linesOrdered;

    District(int id, int tax) {
        this.id = id;
        this.tax = tax;
    }

    void add(Customer customer) {
        customers.put(customer.id, customer);
        byName.computeIfAbsent(customer.last, name -> new ArrayList<>()).add(customer);
    }

    Customer customer(int number) {
        return customers.get(number);
    }

    /** The one in the middle of all with this last name (TPC-C 2.5.2.2), or null if there is none. */
    Customer customerNamed(String last) {
        List<Customer> same = byName.get(last);
        return same == null ? null : same.get(same.size() / 2);
    }

    int customers() {
        return customers.size();
    }

    Iterable<Customer> allCustomers() {
        return customers.values();
    }

    /** Enters an order; the caller has taken its lines from stock. */
    Order enter(Customer customer, List<Order.Line> lines, long total) {
        var order = new Order(nextOrder++, customer, lines, total);
        orders.put(order.id, order);
        undelivered.put(order.id, order);
        customer.ordered(order);
        for (Order.Line line : lines) {
            piecesOrdered += line.quantity();
        }
        linesOrdered += lines.size();
        return order;
    }

    /** Delivers the oldest order that is not; null if all are. */
    Order deliverOldest(int carrier) {
        Map.Entry<Integer, Order> oldest = undelivered.pollFirstEntry();
        if (oldest == null) {
            return null;
        }
        Order order = oldest.getValue();
        order.deliver(carrier);
        delivered += order.total;
        order.customer.delivered(order.total);
        while (orders.size() > KEPT && orders.firstEntry().getValue().delivered()) {
            orders.pollFirstEntry();
            forgotten++;
        }
        return order;
    }

    /** The last {@code many} orders, the oldest of them first. */
    Iterable<Order> lastOrders(int many) {
        return orders.tailMap(nextOrder - many, true).values();
    }

    void pay(long cents) {
        paid += cents;
    }

    long paid() {
        return paid;
    }

    long delivered() {
        return delivered;
    }

    long piecesOrdered() {
        return piecesOrdered;
    }

    long linesOrdered() {
        return linesOrdered;
    }

    int nextOrder() {
        return nextOrder;
    }

    int forgotten() {
        return forgotten;
    }

    NavigableMap<Integer, Order> orders() {
        return orders;
    }

    NavigableMap<Integer, Order> undelivered() {
        return undelivered;
    }
}
