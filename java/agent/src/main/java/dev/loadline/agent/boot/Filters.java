package dev.loadline.agent.boot;

/**
 * Filters of names, in order: the last that matches a name decides, and a name that none matches is left out.
 *
 * <p>Of a method the name is {@code com.shop.Cart.add(int,java.util.List)}, types of {@code java.lang} without their
 * package. A pattern stands for a method by its name, by its name and parameters if the pattern has a parenthesis, or by
 * its class: then for all of them. In it {@code *} is any text without a dot, {@code **} any text. With a {@code !} in
 * front it leaves out.
 */
public final class Filters {
    /** Between filters where there are several in one text. */
    public static final char SEPARATOR = '\n';

    private final String[] patterns;
    private final boolean[] takes;

    private Filters(String[] patterns, boolean[] takes) {
        this.patterns = patterns;
        this.takes = takes;
    }

    /** Of a text with a filter between each two of these separators; null if it has none. */
    public static Filters of(String text, char separator) {
        String[] parts = text.split(java.util.regex.Pattern.quote(String.valueOf(separator)));
        int count = 0;
        for (String part : parts) {
            count += part.isEmpty() ? 0 : 1;
        }
        String[] patterns = new String[count];
        boolean[] takes = new boolean[count];
        int at = 0;
        for (String part : parts) {
            if (!part.isEmpty()) {
                takes[at] = part.charAt(0) != '!';
                patterns[at++] = takes[at - 1] ? part : part.substring(1);
            }
        }
        return count == 0 ? null : new Filters(patterns, takes);
    }

    /** Whether a method is wanted. */
    public boolean takesMethod(String method) {
        int parameters = method.indexOf('(');
        int end = parameters < 0 ? method.length() : parameters;
        int type = Math.max(0, method.lastIndexOf('.', end - 1));
        for (int i = patterns.length - 1; i >= 0; i--) {
            String pattern = patterns[i];
            boolean matches = pattern.indexOf('(') >= 0
                    ? matches(pattern, 0, method, 0, method.length())
                    : matches(pattern, 0, method, 0, end) || matches(pattern, 0, method, 0, type);
            if (matches) {
                return takes[i];
            }
        }
        return false;
    }

    /** Whether a method of this class may be wanted: a guess that never says no to one that is. */
    public boolean mayTakeOf(String className) {
        for (int i = 0; i < patterns.length; i++) {
            if (takes[i]) {
                String begin = begin(patterns[i]);
                if (className.startsWith(begin) || begin.startsWith(className)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a thread is wanted; in its name a dot is a character like any other. If all filters leave out, the rest is wanted. */
    public boolean takesThread(String name) {
        boolean anyTakes = false;
        for (int i = patterns.length - 1; i >= 0; i--) {
            if (matchesText(patterns[i], 0, name, 0)) {
                return takes[i];
            }
            anyTakes |= takes[i];
        }
        return !anyTakes;
    }

    /** What a pattern has before its first wildcard. */
    private static String begin(String pattern) {
        int end = 0;
        while (end < pattern.length() && pattern.charAt(end) != '*' && pattern.charAt(end) != '(') {
            end++;
        }
        return pattern.substring(0, end);
    }

    private static boolean matches(String pattern, int p, String text, int t, int end) {
        while (p < pattern.length()) {
            char c = pattern.charAt(p);
            if (c == '*') {
                boolean dots = p + 1 < pattern.length() && pattern.charAt(p + 1) == '*';
                int rest = p + (dots ? 2 : 1);
                for (int from = t; ; from++) {
                    if (matches(pattern, rest, text, from, end)) {
                        return true;
                    }
                    if (from >= end || !dots && text.charAt(from) == '.') {
                        return false;
                    }
                }
            }
            if (t >= end || text.charAt(t) != c) {
                return false;
            }
            p++;
            t++;
        }
        return t == end;
    }

    private static boolean matchesText(String pattern, int p, String text, int t) {
        for (; p < pattern.length(); p++, t++) {
            if (pattern.charAt(p) == '*') {
                for (int from = t; from <= text.length(); from++) {
                    if (matchesText(pattern, p + 1, text, from)) {
                        return true;
                    }
                }
                return false;
            }
            if (t >= text.length() || text.charAt(t) != pattern.charAt(p)) {
                return false;
            }
        }
        return t == text.length();
    }
}
