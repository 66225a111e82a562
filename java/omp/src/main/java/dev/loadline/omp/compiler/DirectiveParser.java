package dev.loadline.omp.compiler;

import dev.loadline.omp.compiler.Directive.Clause;
import dev.loadline.omp.compiler.Directive.Expression;
import dev.loadline.omp.compiler.Directive.Item;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Reads the text of one directive. */
final class DirectiveParser {
    private static final Set<String> ONCE = Set.of("if", "num_threads", "default", "schedule", "ordered", "nowait", "collapse", "safelen", "simdlen", "initializer");
    private static final Set<String> BARE = Set.of("ordered", "nowait");
    private static final Set<String> SCHEDULES = new TreeSet<>(Set.of("static", "dynamic", "guided", "runtime"));

    private final SourceText.RawDirective raw;
    private final Problems problems;
    private int at;

    private DirectiveParser(SourceText.RawDirective raw, Problems problems) {
        this.raw = raw;
        this.problems = problems;
    }

    /** Reads it; null if something is wrong, which was then reported. */
    static Directive parse(SourceText.RawDirective raw, Problems problems) {
        try {
            return new DirectiveParser(raw, problems).directive();
        } catch (Malformed e) {
            problems.error(e.offset, e.getMessage());
            return null;
        }
    }

    private static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1;
        final int offset;

        Malformed(int offset, String message) {
            super(message, null, false, false);
            this.offset = offset;
        }
    }

    private Malformed wrong(int position, String message) {
        return new Malformed(raw.offsets()[Math.min(position, raw.offsets().length - 1)], message);
    }

    private Directive directive() {
        blanks();
        int nameAt = at;
        DirectiveKind kind = kind();
        Expression argument = null;
        blanks();
        if (kind == DirectiveKind.CRITICAL && peek() == '(') {
            argument = brackets("critical");
            if (!isIdentifier(argument.text())) {
                throw new Malformed(argument.offset(), "the name of a 'critical' must be an identifier; write critical(name)");
            }
        } else if (kind == DirectiveKind.FLUSH && peek() == '(') {
            list("flush");
        } else if (kind == DirectiveKind.DECLARE_REDUCTION) {
            if (peek() != '(') {
                throw wrong(at, "'declare reduction' needs brackets; write declare reduction(name : Type : omp_out = combine(omp_out, omp_in)) initializer(omp_priv = identity)");
            }
            argument = brackets("declare reduction");
        }
        List<Clause> clauses = new ArrayList<>();
        while (!atEnd()) {
            clauses.add(clause(kind, clauses));
            blanks();
            if (peek() == ',') {
                at++;
                blanks();
            }
        }
        return new Directive(kind, raw.start(), raw.end(), raw.offsets()[nameAt], List.copyOf(clauses), argument);
    }

    private DirectiveKind kind() {
        int from = at;
        String first = word();
        if (first.isEmpty()) {
            throw wrong(from, "a directive is missing here, such as 'parallel for'");
        }
        DirectiveKind found = null;
        int end = at;
        var said = new StringBuilder(first);
        for (int words = 1; words <= 3; words++) {
            String phrase = said.toString();
            for (DirectiveKind kind : DirectiveKind.values()) {
                if (kind.text.equals(phrase)) {
                    found = kind;
                    end = at;
                }
            }
            blanks();
            said.append(' ').append(word());
        }
        if (found == null) {
            var names = Arrays.stream(DirectiveKind.values()).map(kind -> kind.text).toList();
            throw wrong(from, "there is no directive '" + first + "'" + suggestion(first, names));
        }
        at = end;
        return found;
    }

    private Clause clause(DirectiveKind kind, List<Clause> before) {
        int from = at;
        String name = word();
        if (name.isEmpty()) {
            throw wrong(from, "'" + peek() + "' is not expected here; clauses are names, most with brackets");
        }
        if (!kind.clauses.contains(name)) {
            String owners = DirectiveKind.whichHave(name);
            throw wrong(from, owners.isEmpty()
                    ? "there is no clause '" + name + "'" + suggestion(name, kind.clauses)
                    : "'" + kind.text + "' cannot have the clause '" + name + "'; it belongs to " + owners);
        }
        if (ONCE.contains(name) && before.stream().anyMatch(c -> c.name().equals(name))) {
            throw wrong(from, "the clause '" + name + "' is here twice; keep one");
        }
        int offset = raw.offsets()[from];
        blanks();
        if (BARE.contains(name)) {
            if (peek() == '(') {
                throw wrong(at, "the clause '" + name + "' has no brackets");
            }
            return new Clause(name, offset, null, List.of());
        }
        if (peek() != '(') {
            throw wrong(at, "the clause '" + name + "' needs brackets; write " + name + "(" + example(name) + ")");
        }
        if (name.equals("reduction")) {
            return reduction(offset);
        }
        if (DirectiveKind.LISTS.contains(name)) {
            return new Clause(name, offset, null, list(name));
        }
        int open = at;
        Expression argument = brackets(name);
        if (argument.text().isBlank()) {
            throw wrong(open, "the clause '" + name + "' has nothing in its brackets; write " + name + "(" + example(name) + ")");
        }
        check(name, argument);
        return new Clause(name, offset, argument, List.of());
    }

    private static void check(String name, Expression argument) {
        String text = argument.text();
        switch (name) {
            case "default" -> {
                if (!text.equals("none") && !text.equals("shared")) {
                    throw new Malformed(argument.offset(), "'default' is none or shared, not '" + text + "'");
                }
            }
            case "collapse", "safelen", "simdlen" -> {
                if (!text.matches("[1-9][0-9]{0,3}")) {
                    throw new Malformed(argument.offset(), "'" + name + "' takes a positive number, not '" + text + "'");
                }
            }
            case "schedule" -> {
                String kind = text.split(",", 2)[0].strip();
                if (!SCHEDULES.contains(kind)) {
                    throw new Malformed(argument.offset(), "there is no schedule '" + kind + "'" + suggestion(kind, SCHEDULES));
                }
                if (kind.equals("runtime") && text.contains(",")) {
                    throw new Malformed(argument.offset(), "schedule(runtime) takes no chunk; OMP_SCHEDULE gives it");
                }
                if (text.contains(",") && text.split(",", 2)[1].isBlank()) {
                    throw new Malformed(argument.offset(), "the chunk is missing; write schedule(" + kind + ", 16) or schedule(" + kind + ")");
                }
            }
            default -> { }
        }
    }

    private Clause reduction(int offset) {
        int open = at;
        Expression inside = brackets("reduction");
        int colon = inside.text().indexOf(':');
        if (colon < 0) {
            throw wrong(open, "'reduction' needs an operator; write reduction(+ : sum)");
        }
        String operator = inside.text().substring(0, colon).strip();
        if (operator.isEmpty()) {
            throw wrong(open, "'reduction' needs an operator before the colon; write reduction(+ : sum)");
        }
        int close = at;
        at = open + 1;
        while (raw.text().charAt(at) != ':') {
            at++;
        }
        at++;
        List<Item> items = items("reduction", close - 1);
        at = close;
        return new Clause("reduction", offset, new Expression(operator, inside.offset()), items);
    }

    private List<Item> list(String name) {
        int open = at;
        brackets(name);
        int close = at;
        at = open + 1;
        List<Item> items = items(name, close - 1);
        at = close;
        return items;
    }

    private List<Item> items(String name, int end) {
        List<Item> items = new ArrayList<>();
        while (true) {
            blanks();
            int from = at;
            String item = word();
            blanks();
            if (item.isEmpty() || at < end && peek() != ',') {
                throw wrong(item.isEmpty() ? from : at, "'" + name + "' takes names of variables with commas between; write " + name + "(" + example(name) + ")");
            }
            items.add(new Item(item, raw.offsets()[from]));
            if (at >= end) {
                return List.copyOf(items);
            }
            at++;
        }
    }

    /** Reads from the bracket here to the one that closes it. */
    private Expression brackets(String name) {
        int open = at;
        int depth = 0;
        while (at < raw.text().length()) {
            char c = raw.text().charAt(at++);
            if (c == '(' || c == '[' || c == '{') {
                depth++;
            } else if (c == ')' || c == ']' || c == '}') {
                depth--;
            } else if (c == '"' || c == '\'') {
                int close = raw.text().indexOf(c, at);
                at = close < 0 ? raw.text().length() : close + 1;
            }
            if (depth == 0) {
                String inside = raw.text().substring(open + 1, at - 1);
                int lead = inside.length() - inside.stripLeading().length();
                return new Expression(inside.strip(), raw.offsets()[open + 1 + lead]);
            }
        }
        throw wrong(open, "the bracket of '" + name + "' is not closed; add ')'");
    }

    private static String example(String name) {
        return switch (name) {
            case "if" -> "n > 1000";
            case "num_threads" -> "4";
            case "default" -> "none";
            case "schedule" -> "dynamic, 16";
            case "collapse" -> "2";
            case "reduction" -> "+ : sum";
            case "safelen", "simdlen" -> "8";
            case "initializer" -> "omp_priv = identity";
            default -> "a, b";
        };
    }

    private char peek() {
        return at < raw.text().length() ? raw.text().charAt(at) : ' ';
    }

    private boolean atEnd() {
        blanks();
        return at >= raw.text().length();
    }

    private void blanks() {
        while (at < raw.text().length() && Character.isWhitespace(raw.text().charAt(at))) {
            at++;
        }
    }

    private String word() {
        int from = at;
        while (at < raw.text().length() && Character.isJavaIdentifierPart(raw.text().charAt(at))) {
            at++;
        }
        return raw.text().substring(from, at);
    }

    private static boolean isIdentifier(String text) {
        return !text.isEmpty() && Character.isJavaIdentifierStart(text.charAt(0)) && text.chars().allMatch(Character::isJavaIdentifierPart);
    }

    /** "; did you mean …?", or what there is. */
    static String suggestion(String said, Collection<String> known) {
        String nearest = null;
        int distance = 3;
        for (String candidate : known) {
            int d = distance(said, candidate);
            if (d < distance) {
                distance = d;
                nearest = candidate;
            }
        }
        if (nearest != null) {
            return "; did you mean '" + nearest + "'?";
        }
        return known.isEmpty() ? "; there are none here" : "; there are " + String.join(", ", known);
    }

    /** Levenshtein's distance. Pure. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        Arrays.setAll(row, i -> i);
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int above = row[j];
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(above, row[j - 1]));
                diagonal = above;
            }
        }
        return row[b.length()];
    }
}
