package dev.loadline.agent.boot;

/**
 * The text under which equal statements are counted together.
 *
 * <p>Strings, numbers and parameters become {@code ?}; comments go; blanks collapse to one; a list
 * of nothing but parameters after {@code IN} becomes {@code (?…)} however long it is. Quoted
 * identifiers stay as they are. What cannot be parsed, as an open string, is taken as it comes: the
 * result is for people to read and to group by, not for a database.
 */
public final class SqlText {
    /** Longest result, in characters. */
    public static final int MAX_CHARS = 2_000;

    private static final char ELLIPSIS = '\u2026';

    private final String sql;
    private final StringBuilder out;
    private int at;
    private boolean blank;

    private SqlText(String sql) {
        this.sql = sql;
        this.out = new StringBuilder(Math.min(sql.length(), MAX_CHARS));
    }

    public static String normalise(String sql) {
        return new SqlText(sql).run();
    }

    private String run() {
        while (at < sql.length() && out.length() <= MAX_CHARS) {
            step(sql.charAt(at));
        }
        int end = Math.min(out.length(), MAX_CHARS);
        if (end < out.length() && Character.isHighSurrogate(out.charAt(end - 1))) {
            end--;
        }
        while (end > 0 && out.charAt(end - 1) == ' ') {
            end--;
        }
        return out.substring(0, end);
    }

    private void step(char c) {
        if (isBlank(c)) {
            at++;
            blank = true;
        } else if (c == '-' && peek(1) == '-') {
            skipTo("\n", at + 2);
        } else if (c == '/' && peek(1) == '*') {
            skipTo("*/", at + 2);
        } else if (c == '\'') {
            at = afterQuoted('\'');
            parameter();
        } else if (c == '"' || c == '`') {
            int end = afterQuoted(c);
            put(at, end);
        } else if (c == '$') {
            dollar();
        } else if (isDigit(c) || c == '.' && isDigit(peek(1))) {
            at = afterNumber();
            parameter();
        } else if (isWordStart(c)) {
            word();
        } else if (c == '?') {
            at++;
            parameter();
        } else if (c == ')') {
            put(at, at + 1);
            collapseIn();
        } else {
            put(at, at + 1);
        }
    }

    /** Copies a piece of the text, after the blank that was pending. */
    private void put(int from, int to) {
        blank();
        out.append(sql, from, Math.min(to, from + MAX_CHARS + 1));
        at = to;
    }

    private void parameter() {
        blank();
        out.append('?');
    }

    private void blank() {
        if (blank && out.length() > 0) {
            out.append(' ');
        }
        blank = false;
    }

    private void word() {
        int end = at + 1;
        while (end < sql.length() && isWordPart(sql.charAt(end))) {
            end++;
        }
        // N'…', X'…', E'…' and the like are literals too.
        if (end - at <= 2 && end < sql.length() && sql.charAt(end) == '\'') {
            at = end;
            at = afterQuoted('\'');
            parameter();
        } else {
            put(at, end);
        }
    }

    /** PostgreSQL: {@code $1} is a parameter, {@code $tag$…$tag$} a string. */
    private void dollar() {
        int end = at + 1;
        if (isDigit(peek(1))) {
            while (end < sql.length() && isDigit(sql.charAt(end))) {
                end++;
            }
            at = end;
            parameter();
            return;
        }
        while (end < sql.length() && isWordPart(sql.charAt(end)) && sql.charAt(end) != '$') {
            end++;
        }
        if (end < sql.length() && sql.charAt(end) == '$') {
            skipTo(sql.substring(at, end + 1), end + 1);
            parameter();
        } else {
            put(at, at + 1);
        }
    }

    /** Moves behind the next such text, or to the end. */
    private void skipTo(String closing, int from) {
        int end = sql.indexOf(closing, from);
        at = end < 0 ? sql.length() : end + closing.length();
        blank = true;
    }

    private int afterQuoted(char quote) {
        int i = at + 1;
        while (i < sql.length()) {
            if (sql.charAt(i) != quote) {
                i++;
            } else if (i + 1 < sql.length() && sql.charAt(i + 1) == quote) {
                i += 2;
            } else {
                return i + 1;
            }
        }
        return sql.length();
    }

    private int afterNumber() {
        int i = at;
        while (i < sql.length()) {
            char c = sql.charAt(i);
            boolean sign = (c == '+' || c == '-') && i > at && (sql.charAt(i - 1) | 0x20) == 'e'
                    && i + 1 < sql.length() && isDigit(sql.charAt(i + 1));
            if (!sign && c != '.' && !isWordPart(c)) {
                return i;
            }
            i++;
        }
        return i;
    }

    /** After a closing bracket: {@code IN (?, ?, ?)} becomes {@code IN (?…)}. */
    private void collapseIn() {
        int i = out.length() - 2;
        boolean some = false;
        while (i >= 0 && (out.charAt(i) == '?' || out.charAt(i) == ',' || out.charAt(i) == ' '
                || out.charAt(i) == ELLIPSIS)) {
            some |= out.charAt(i) == '?';
            i--;
        }
        if (!some || i < 0 || out.charAt(i) != '(') {
            return;
        }
        int open = i;
        i--;
        while (i >= 0 && out.charAt(i) == ' ') {
            i--;
        }
        boolean in = i >= 1 && (out.charAt(i) | 0x20) == 'n' && (out.charAt(i - 1) | 0x20) == 'i'
                && (i == 1 || !isWordPart(out.charAt(i - 2)));
        if (in) {
            out.setLength(open);
            out.append("(?").append(ELLIPSIS).append(')');
        }
    }

    private char peek(int ahead) {
        int i = at + ahead;
        return i < sql.length() ? sql.charAt(i) : '\0';
    }

    private static boolean isBlank(char c) {
        return c <= ' ' || Character.isWhitespace(c) || c == ELLIPSIS; // the last from a text that is normal already
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isWordStart(char c) {
        return c == '_' || Character.isLetter(c);
    }

    private static boolean isWordPart(char c) {
        return c == '_' || c == '$' || c == '#' || Character.isLetterOrDigit(c);
    }
}
