package dev.loadline.wholesale;

import java.util.ArrayDeque;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** One warehouse: its districts, its stock, what was paid there. */
final class Warehouse {
    /** A payment that it took. */
    record Payment(int customer, int district, long cents) {
    }

    /** Payments that are kept. */
    private static final int HISTORY = 3_000;

    final int id;
    final String name;
    /** Hundredths of a percent. */
    final int tax;
    final List<District> districts;
    private final NavigableMap<Integer, Stock> stock = new TreeMap<>();
    private final ArrayDeque<Payment> history = new ArrayDeque<>(HISTORY);
    private long paid;

    Warehouse(int id, String name, int tax, List<District> districts) {
        this.id = id;
        this.name = name;
        this.tax = tax;
        this.districts = districts;
    }

    void add(Stock entry) {
        stock.put(entry.item, entry);
    }

    Stock stock(int item) {
        return stock.get(item);
    }

    Iterable<Stock> allStock() {
        return stock.values();
    }

    void pay(Payment payment) {
        paid += payment.cents();
        districts.get(payment.district()).pay(payment.cents());
        if (history.size() == HISTORY) {
            history.pollFirst();
        }
        history.addLast(payment);
    }

    long paid() {
        return paid;
    }
}
