package dev.loadline.wholesale;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** The company: its items and warehouses, drawn from a seed; another warehouse does not change those that are there. */
final class Company {
    static final int DISTRICTS = 10;
    /** In each district. */
    static final int CUSTOMERS = 300;
    /** In each district before the first transaction; the last third is not delivered (TPC-C 4.3.3.1). */
    static final int FIRST_ORDERS = 300;

    private final Draws seed;
    private final List<Item> items;
    private final List<Warehouse> warehouses = new ArrayList<>();

    Company(long seed, int items) {
        this.seed = new Draws(new SplittableRandom(seed));
        Draws draws = this.seed.split();
        this.items = IntStream.rangeClosed(1, items)
            .mapToObj(i -> new Item(i, draws.text(14, 24), draws.between(100, 10_000), draws.data())).toList();
    }

    int items() {
        return items.size();
    }

    /** Items are numbered from 1. */
    Item item(int id) {
        return items.get(id - 1);
    }

    List<Warehouse> warehouses() {
        return warehouses;
    }

    /** Opens warehouses until there are so many. */
    void open(int count) {
        while (warehouses.size() < count) {
            warehouses.add(newWarehouse(warehouses.size(), seed.split()));
        }
    }

    private Warehouse newWarehouse(int id, Draws draws) {
        List<District> districts = IntStream.range(0, DISTRICTS).mapToObj(d -> newDistrict(d, draws)).toList();
        var warehouse = new Warehouse(id, draws.text(6, 10), draws.between(0, 2_000), districts);
        for (Item item : items) {
            String[] labels = IntStream.range(0, DISTRICTS).mapToObj(d -> draws.text(24, 24)).toArray(String[]::new);
            warehouse.add(new Stock(item.id(), draws.between(10, 100), labels, draws.data()));
        }
        for (District district : districts) {
            firstOrders(warehouse, district, draws);
        }
        return warehouse;
    }

    private static District newDistrict(int id, Draws draws) {
        var district = new District(id, draws.between(0, 2_000));
        for (int c = 1; c <= CUSTOMERS; c++) {
            String last = Draws.lastName(draws.skewed(255, 0, Draws.NAMES - 1));
            district.add(new Customer(c, draws.text(8, 16), last, draws.percent(10), draws.between(0, 5_000), draws.text(300, 500)));
        }
        return district;
    }

    private void firstOrders(Warehouse warehouse, District district, Draws draws) {
        for (int i = 0; i < FIRST_ORDERS; i++) {
            List<Order.Line> lines = new ArrayList<>();
            long total = 0;
            for (int n = draws.between(5, 15); n > 0; n--) {
                Item item = item(draws.between(1, items.size()));
                int quantity = 5;
                long amount = (long) quantity * item.price();
                String label = warehouse.stock(item.id()).take(quantity, district.id, false);
                lines.add(new Order.Line(item.id(), warehouse.id, quantity, amount, label));
                total += amount;
            }
            district.enter(district.customer(draws.between(1, CUSTOMERS)), lines, total);
        }
        for (int i = 0; i < FIRST_ORDERS * 2 / 3; i++) {
            district.deliverOldest(draws.between(1, 10));
        }
    }
}
