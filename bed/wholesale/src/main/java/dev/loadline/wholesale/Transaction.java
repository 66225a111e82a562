package dev.loadline.wholesale;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The five transactions, as a clerk of one warehouse enters them. Each ends in the screen that the clerk
 * would see. Rules of business and chances are those of TPC-C 5.11, clauses 2.4 to 2.8.
 */
final class Transaction {
    /** What a transaction does, and how many of the deck's 23 cards say so. */
    enum Type {
        /** An order of 5 to 15 lines. */
        NEW_ORDER("new-order", 10),
        /** A payment of a customer. */
        PAYMENT("payment", 10),
        /** What a customer ordered last. */
        ORDER_STATUS("order-status", 1),
        /** The oldest order of each district goes out. */
        DELIVERY("delivery", 1),
        /** How many items of a district's last 20 orders run low. */
        STOCK_LEVEL("stock-level", 1);

        /** In reports and recordings. */
        final String label;
        final int cards;

        Type(String label, int cards) {
            this.label = label;
            this.cards = cards;
        }
    }

    /** Percent of order lines that another warehouse supplies. */
    private static final int REMOTE_LINES = 1;
    /** Percent of payments of customers of another warehouse. */
    private static final int REMOTE_PAYMENTS = 15;
    /** Percent of customers who give their name in place of their number. */
    private static final int BY_NAME = 60;
    /** Percent of orders that name an item which does not exist: nothing is ordered. */
    private static final int MISTAKEN = 1;
    /** Orders that a stock level looks at. */
    private static final int RECENT = 20;

    private final Company company;
    private final Warehouse home;
    private final int warehouses;
    private final Draws draws;

    /** For a clerk of {@code home}, while the first {@code warehouses} of the company are at work. */
    Transaction(Company company, Warehouse home, int warehouses, Draws draws) {
        this.company = company;
        this.home = home;
        this.warehouses = warehouses;
        this.draws = draws;
    }

    String run(Type type) {
        return switch (type) {
            case NEW_ORDER -> newOrder();
            case PAYMENT -> payment();
            case ORDER_STATUS -> orderStatus();
            case DELIVERY -> delivery();
            case STOCK_LEVEL -> stockLevel();
        };
    }

    private record Wanted(Item item, Warehouse supplier, int quantity) {
    }

    private String newOrder() {
        District district = anyDistrict(home);
        Customer customer = district.customer(draws.skewed(255, 1, district.customers()));
        int count = draws.between(5, 15);
        boolean mistaken = draws.percent(MISTAKEN);
        List<Wanted> wanted = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            Item item = company.item(draws.skewed(8191, 1, company.items()));
            wanted.add(new Wanted(item, draws.percent(REMOTE_LINES) ? another() : home, draws.between(1, 10)));
        }
        var screen = new StringBuilder(1_024).append("NEW ORDER  warehouse ").append(home.id).append("  district ").append(district.id)
            .append("  customer ").append(customer.id).append(' ').append(customer.last).append('\n');
        if (mistaken) {
            // Its last item has no number: what was looked up until then is dropped, nothing is changed.
            return screen.append("ITEM NUMBER IS NOT VALID\n").toString();
        }
        List<Order.Line> lines = new ArrayList<>(count);
        long sum = 0;
        for (Wanted w : wanted) {
            Stock stock = w.supplier.stock(w.item.id());
            String label = stock.take(w.quantity, district.id, w.supplier != home);
            long amount = (long) w.quantity * w.item.price();
            lines.add(new Order.Line(w.item.id(), w.supplier.id, w.quantity, amount, label));
            sum += amount;
            screen.append(w.supplier.id).append(' ').append(w.item.id()).append(' ').append(w.item.name()).append(' ').append(w.quantity)
                .append(stock.isOriginal() && w.item.data().contains("ORIGINAL") ? " B " : " G ");
            cents(screen, w.item.price()).append(' ');
            cents(screen, amount).append('\n');
        }
        long discounted = sum * (10_000 - customer.discount) / 10_000;
        long total = discounted * (10_000 + home.tax + district.tax) / 10_000;
        Order order = district.enter(customer, lines, total);
        return cents(screen.append("order ").append(order.id).append("  total "), total).append('\n').toString();
    }

    private String payment() {
        District paidAt = anyDistrict(home);
        Warehouse of = draws.percent(REMOTE_PAYMENTS) ? another() : home;
        District district = of == home ? paidAt : anyDistrict(of);
        Customer customer = anyCustomer(district);
        long amount = draws.between(100, 500_000);
        long balance = customer.pay(amount, home.id, paidAt.id);
        home.pay(new Warehouse.Payment(customer.id, paidAt.id, amount));
        var screen = new StringBuilder(512).append("PAYMENT  ").append(home.name).append("  district ").append(paidAt.id)
            .append("  customer ").append(customer.id).append(' ').append(customer.first).append(' ').append(customer.last).append("\namount ");
        cents(cents(screen, amount).append("  balance "), balance).append('\n');
        if (customer.badCredit) {
            String data = customer.data();
            screen.append(data, 0, Math.min(200, data.length())).append('\n');
        }
        return screen.toString();
    }

    private String orderStatus() {
        District district = anyDistrict(home);
        Customer customer = anyCustomer(district);
        var screen = new StringBuilder(512).append("ORDER STATUS  customer ").append(customer.id).append(' ').append(customer.last).append("  balance ");
        cents(screen, customer.balance()).append('\n');
        Order order = customer.lastOrder();
        if (order == null) {
            return screen.append("no order yet\n").toString();
        }
        screen.append("order ").append(order.id).append("  carrier ").append(order.carrier()).append('\n');
        for (Order.Line line : order.lines) {
            screen.append(line.supplier()).append(' ').append(line.item()).append(' ').append(line.quantity()).append(' ');
            cents(screen, line.amount()).append('\n');
        }
        return screen.toString();
    }

    private String delivery() {
        int carrier = draws.between(1, 10);
        var screen = new StringBuilder(256).append("DELIVERY  warehouse ").append(home.id).append("  carrier ").append(carrier).append('\n');
        for (District district : home.districts) {
            Order order = district.deliverOldest(carrier);
            screen.append(district.id).append(' ').append(order == null ? "none" : Integer.toString(order.id)).append('\n');
        }
        return screen.toString();
    }

    private String stockLevel() {
        District district = anyDistrict(home);
        int threshold = draws.between(10, 20);
        Set<Integer> low = new HashSet<>();
        for (Order order : district.lastOrders(RECENT)) {
            for (Order.Line line : order.lines) {
                if (!low.contains(line.item()) && home.stock(line.item()).quantity() < threshold) {
                    low.add(line.item());
                }
            }
        }
        return "STOCK LEVEL  warehouse " + home.id + "  district " + district.id + "  below " + threshold + ": " + low.size() + "\n";
    }

    private District anyDistrict(Warehouse of) {
        return of.districts.get(draws.between(0, Company.DISTRICTS - 1));
    }

    private Customer anyCustomer(District district) {
        if (draws.percent(BY_NAME)) {
            Customer named = district.customerNamed(Draws.lastName(draws.skewed(255, 0, Draws.NAMES - 1)));
            if (named != null) {
                return named;
            }
        }
        return district.customer(draws.skewed(255, 1, district.customers()));
    }

    private Warehouse another() {
        if (warehouses == 1) {
            return home;
        }
        int other = draws.between(0, warehouses - 2);
        return company.warehouses().get(other < home.id ? other : other + 1);
    }

    private static StringBuilder cents(StringBuilder to, long cents) {
        long absolute = Math.abs(cents);
        return to.append(cents < 0 ? "-" : "").append(absolute / 100).append(absolute % 100 < 10 ? ".0" : ".").append(absolute % 100);
    }
}
