package dev.loadline.omp.compiler;

import java.util.List;

/**
 * A directive as it was read.
 *
 * @param kind which
 * @param start offset of its comment
 * @param end offset after its comment
 * @param nameOffset where its name stands
 * @param clauses in their order
 * @param argument what {@code critical(…)} and {@code declare reduction(…)} have in their brackets; else null
 */
record Directive(DirectiveKind kind, int start, int end, int nameOffset, List<Clause> clauses, Expression argument) {
    /**
     * Java text in a directive.
     *
     * @param text what it says
     * @param offset where it stands
     */
    record Expression(String text, int offset) {}

    /**
     * A variable in a clause.
     *
     * @param name its name
     * @param offset where that stands
     */
    record Item(String name, int offset) {}

    /**
     * A clause.
     *
     * @param name its name
     * @param offset where that stands
     * @param argument its operator, kind or expression; null without
     * @param items its variables
     */
    record Clause(String name, int offset, Expression argument, List<Item> items) {}

    Clause clause(String name) {
        return clauses.stream().filter(c -> c.name().equals(name)).findFirst().orElse(null);
    }

    boolean has(String name) {
        return clause(name) != null;
    }

    List<Clause> all(String name) {
        return clauses.stream().filter(c -> c.name().equals(name)).toList();
    }
}
