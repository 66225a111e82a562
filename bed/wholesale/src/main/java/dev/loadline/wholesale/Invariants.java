package dev.loadline.wholesale;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What holds of a company when no transaction runs, after TPC-C 5.11, clause 3.3.2. A lost update, a
 * torn one or a race between warehouses shows here.
 */
final class Invariants {
    private Invariants() {
    }

    /** What does not hold, each in a sentence; nothing if all is well. */
    static List<String> broken(Company company) {
        List<String> broken = new ArrayList<>();
        long pieces = 0;
        long lines = 0;
        long sold = 0;
        long taken = 0;
        long paid = 0;
        long paidByCustomers = 0;
        long delivered = 0;
        long balances = 0;
        for (Warehouse warehouse : company.warehouses()) {
            long districts = 0;
            for (District district : warehouse.districts) {
                districts += district.paid();
                pieces += district.piecesOrdered();
                lines += district.linesOrdered();
                delivered += district.delivered();
                orders(warehouse, district, broken);
                for (Customer customer : district.allCustomers()) {
                    balances += customer.balance();
                    paidByCustomers += customer.paid();
                }
            }
            same(broken, "what warehouse " + warehouse.id + " took and what its districts did", warehouse.paid(), districts);
            paid += warehouse.paid();
            for (Stock stock : warehouse.allStock()) {
                sold += stock.sold();
                taken += stock.orders()[0];
            }
        }
        same(broken, "pieces sold from stock and pieces ordered", sold, pieces);
        same(broken, "takings from stock and order lines", taken, lines);
        same(broken, "payments taken and payments of customers", paid, paidByCustomers);
        same(broken, "balances of customers and what was delivered less what was paid", balances, delivered - paid);
        return broken;
    }

    private static void orders(Warehouse warehouse, District district, List<String> broken) {
        String where = "in district " + district.id + " of warehouse " + warehouse.id;
        same(broken, "orders kept and forgotten " + where + " and orders entered",
            district.orders().size() + district.forgotten(), district.nextOrder() - 1L);
        int expected = district.undelivered().isEmpty() ? district.nextOrder() : district.undelivered().firstKey();
        same(broken, "orders not delivered " + where + " and those after the last that is",
            district.undelivered().size(), (long) district.nextOrder() - expected);
        for (Map.Entry<Integer, Order> entry : district.orders().entrySet()) {
            boolean open = district.undelivered().containsKey(entry.getKey());
            if (open == entry.getValue().delivered()) {
                broken.add("order " + entry.getKey() + " " + where + (open ? " is delivered and waits for delivery" : " is neither delivered nor waits for it"));
            }
        }
    }

    private static void same(List<String> broken, String what, long left, long right) {
        if (left != right) {
            broken.add(what + " differ: " + left + " and " + right);
        }
    }
}
