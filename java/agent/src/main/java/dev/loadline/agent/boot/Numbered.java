package dev.loadline.agent.boot;

/** Names that end in a number. Virtual threads are many, and numbered: their names are told as a text and a number. */
final class Numbered {
    /** Of which each number fits into a long. */
    private static final int MOST_DIGITS = 18;

    private Numbered() {}

    /** How many characters the number has that a name ends in; 0 if it ends in none. A zero in front belongs to the text. */
    static int digits(String name) {
        int length = name.length();
        int at = length;
        while (at > 0 && length - at < MOST_DIGITS && isDigit(name.charAt(at - 1))) {
            at--;
        }
        while (at + 1 < length && name.charAt(at) == '0') {
            at++;
        }
        return length - at;
    }

    /** That number plus 1; 0 if there is none. */
    static long code(String name, int digits) {
        if (digits == 0) {
            return 0;
        }
        long number = 0;
        for (int i = name.length() - digits; i < name.length(); i++) {
            number = number * 10 + (name.charAt(i) - '0');
        }
        return number + 1;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
