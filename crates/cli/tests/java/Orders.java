/** Takes ROUNDS orders of three items each, in fixed ways, and says how often and how long; with a second word it goes on for ever. */
public class Orders {
    private static long inOrders;
    private static long rounds;

    public static void main(String[] args) throws InterruptedException {
        int count = Integer.parseInt(args[0]);
        do {
            for (int i = 0; i < count; i++) {
                long begin = System.nanoTime();
                Orders.order(i);
                inOrders += System.nanoTime() - begin;
                rounds++;
            }
            System.out.println("orders " + rounds + " ns " + inOrders);
            if (args.length > 1) {
                Thread.sleep(20);
            }
        } while (args.length > 1);
    }

    static long order(int number) {
        long sum = 0;
        for (int i = 0; i < 3; i++) {
            sum += price(i);
        }
        try {
            return sum + price("item " + number % 2);
        } catch (IllegalStateException sold) {
            return sum + factorial(4);
        }
    }

    static long price(int item) {
        long end = System.nanoTime() + 20_000;
        long x = item;
        while (System.nanoTime() < end) {
            x = x * 31 + 7;
        }
        return x;
    }

    static long price(String item) {
        if (item.endsWith("1")) {
            throw new IllegalStateException("sold");
        }
        return item.length();
    }

    static long factorial(int n) {
        return n < 2 ? 1 : n * factorial(n - 1);
    }
}
