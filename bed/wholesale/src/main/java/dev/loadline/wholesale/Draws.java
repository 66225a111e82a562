package dev.loadline.wholesale;

import java.util.SplittableRandom;

/** What is drawn at random for data and transactions, from one stream. */
final class Draws {
    private static final String[] SYLLABLES = {"WIN", "TER", "MAR", "LOW", "ASH", "FORD", "HOL", "DEN", "BRO", "KE"};
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    /** Last names are drawn from so many numbers of three digits. */
    static final int NAMES = 1_000;

    private final SplittableRandom random;

    Draws(SplittableRandom random) {
        this.random = random;
    }

    /** A stream of its own for a part of the company. */
    Draws split() {
        return new Draws(random.split());
    }

    /** From {@code least} to {@code most}, both included. */
    int between(int least, int most) {
        return random.nextInt(least, most + 1);
    }

    boolean percent(int chance) {
        return random.nextInt(100) < chance;
    }

    /**
     * Not uniform: some numbers are drawn far more often than others (TPC-C 2.1.6,
     * {@code ((random(0, a) | random(least, most)) % range) + least}, its constant C being 0).
     */
    int skewed(int a, int least, int most) {
        return (random.nextInt(a + 1) | between(least, most)) % (most - least + 1) + least;
    }

    static String lastName(int number) {
        return SYLLABLES[number / 100 % 10] + SYLLABLES[number / 10 % 10] + SYLLABLES[number % 10];
    }

    String text(int least, int most) {
        char[] text = new char[between(least, most)];
        for (int i = 0; i < text.length; i++) {
            text[i] = LETTERS.charAt(random.nextInt(LETTERS.length()));
        }
        return new String(text);
    }

    /** Text as of goods, one in ten of them "ORIGINAL" (TPC-C 4.3.3.1). */
    String data() {
        return percent(10) ? text(10, 20) + "ORIGINAL" + text(10, 20) : text(26, 50);
    }

    void shuffle(Transaction.Type[] cards) {
        for (int i = cards.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            Transaction.Type card = cards[i];
            cards[i] = cards[j];
            cards[j] = card;
        }
    }
}
