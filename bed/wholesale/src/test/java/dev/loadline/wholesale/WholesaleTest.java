package dev.loadline.wholesale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WholesaleTest {
    private static final int ITEMS = 200;

    private static Transaction clerkOf(Company company, int warehouse, int warehouses, long seed) {
        return new Transaction(company, company.warehouses().get(warehouse), warehouses, new Draws(new SplittableRandom(seed)));
    }

    @Test
    void aNewCompanysBooksBalance() {
        var company = new Company(3, ITEMS);
        company.open(2);
        assertEquals(List.of(), Invariants.broken(company));
    }

    @Test
    void theBooksBalanceAfterManyTransactionsOfEachType() {
        var company = new Company(3, ITEMS);
        company.open(2);
        for (Transaction.Type type : Transaction.Type.values()) {
            Transaction clerk = clerkOf(company, 0, 2, type.ordinal());
            for (int i = 0; i < 3_000; i++) {
                clerk.run(type);
            }
            assertEquals(List.of(), Invariants.broken(company), "after " + type.label);
        }
    }

    @Test
    void threadsThatReachIntoEachOthersWarehousesLoseNothing() throws InterruptedException {
        Point point = Point.measure(new Company(5, ITEMS), 4, 0, 1, 5);
        assertEquals(List.of(), point.broken());
        assertTrue(point.transactions() > 1_000, "only " + point.transactions() + " transactions");
    }

    @Test
    void aPaymentThatIsBookedOnOneSideOnlyIsFound() {
        var company = new Company(3, ITEMS);
        company.open(1);
        company.warehouses().get(0).districts.get(4).customer(7).pay(100, 0, 4);
        List<String> broken = Invariants.broken(company);
        assertTrue(broken.stream().anyMatch(b -> b.contains("payments taken and payments of customers")), broken.toString());
    }

    @Test
    void goodsThatLeaveWithoutAnOrderAreFound() {
        var company = new Company(3, ITEMS);
        company.open(1);
        company.warehouses().get(0).stock(1).take(1, 0, false);
        assertFalse(Invariants.broken(company).isEmpty());
    }

    @Test
    void aDeliveryThatIsNotBookedIsFound() {
        var company = new Company(3, ITEMS);
        company.open(1);
        District district = company.warehouses().get(0).districts.get(0);
        district.undelivered().firstEntry().getValue().deliver(3);
        assertTrue(Invariants.broken(company).stream().anyMatch(b -> b.contains("is delivered and waits")));
    }

    @Test
    void theMixIsThatOfTheDeck() throws InterruptedException {
        Point point = Point.measure(new Company(5, ITEMS), 1, 0.2, 1, 5);
        double cards = Arrays.stream(Transaction.Type.values()).mapToInt(type -> type.cards).sum();
        point.durations().forEach((type, durations) ->
            assertEquals(type.cards / cards, durations.getTotalCount() / (double) point.transactions(), 0.01, type.label));
    }

    @Test
    void ordersDoNotPileUp() {
        var company = new Company(3, ITEMS);
        company.open(1);
        Transaction clerk = clerkOf(company, 0, 1, 1);
        for (int i = 0; i < 20_000; i++) {
            clerk.run(i % 11 == 0 ? Transaction.Type.DELIVERY : Transaction.Type.NEW_ORDER);
        }
        for (District district : company.warehouses().get(0).districts) {
            int kept = district.orders().size();
            assertTrue(kept <= 2 * District.KEPT, "district " + district.id + " keeps " + kept);
        }
    }

    @Test
    void theSameSeedGivesTheSameScreens() {
        var screens = new StringBuilder[] {new StringBuilder(), new StringBuilder()};
        for (StringBuilder screen : screens) {
            var company = new Company(9, ITEMS);
            company.open(1);
            Transaction clerk = clerkOf(company, 0, 1, 9);
            for (int i = 0; i < 500; i++) {
                screen.append(clerk.run(Transaction.Type.values()[i % Transaction.Type.values().length]));
            }
        }
        assertEquals(screens[0].toString(), screens[1].toString());
        assertTrue(screens[0].toString().contains("STOCK LEVEL"));
    }
}
