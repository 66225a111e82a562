package dev.loadline.omp.compiler;

import dev.loadline.omp.compiler.Construct.Kind;
import java.util.ArrayList;
import java.util.List;

/** Attaches directives to the statements after them, and makes the tree of constructs. */
final class Constructs {
    private Constructs() {}

    /** The constructs in the order of the text; those that could not be attached were reported. */
    static List<Construct> attach(List<Directive> directives, SourceText text, Scan scan, Problems problems) {
        List<Construct> all = new ArrayList<>();
        for (Directive directive : directives) {
            if (directive.kind() == DirectiveKind.DECLARE_REDUCTION) {
                continue;
            }
            Construct parent = innermost(all, directive.start());
            if (directive.kind().standsAlone()) {
                if (standsBetweenStatements(directive, scan)) {
                    all.add(new Construct(directive, kind(directive.kind()), null, parent));
                } else {
                    problems.error(directive.nameOffset(), "'" + directive.kind().text + "' must stand between the statements of a block; put braces around the place");
                }
                continue;
            }
            Scan.Statement statement = statementAfter(directive, directives, text, scan, problems);
            if (statement != null) {
                Kind inner = kind(directive.kind());
                if (directive.kind().text.startsWith("parallel ")) {
                    parent = new Construct(directive, Kind.PARALLEL, statement, parent);
                    all.add(parent);
                }
                all.add(new Construct(directive, inner, statement, parent));
            }
        }
        return all;
    }

    private static Kind kind(DirectiveKind kind) {
        return switch (kind) {
            case PARALLEL -> Kind.PARALLEL;
            case FOR, PARALLEL_FOR, FOR_SIMD, PARALLEL_FOR_SIMD -> Kind.FOR;
            case SIMD -> Kind.SIMD;
            case SECTIONS, PARALLEL_SECTIONS -> Kind.SECTIONS;
            case SECTION -> Kind.SECTION;
            case SINGLE -> Kind.SINGLE;
            case MASTER, MASKED -> Kind.MASTER;
            case CRITICAL -> Kind.CRITICAL;
            case ATOMIC -> Kind.ATOMIC;
            case ORDERED -> Kind.ORDERED;
            case TASK -> Kind.TASK;
            case BARRIER -> Kind.BARRIER;
            case TASKWAIT -> Kind.TASKWAIT;
            case FLUSH -> Kind.FLUSH;
            case DECLARE_REDUCTION -> throw new IllegalArgumentException("not a construct");
        };
    }

    /** The innermost construct around an offset. */
    static Construct innermost(List<Construct> all, int offset) {
        Construct found = null;
        for (Construct construct : all) { // in the order of the text, so inner ones come later
            if (construct.contains(offset)) {
                found = construct;
            }
        }
        return found;
    }

    private static Scan.Statement statementAfter(Directive directive, List<Directive> directives, SourceText text, Scan scan, Problems problems) {
        var entry = scan.statements.ceilingEntry(directive.end());
        String name = directive.kind().text;
        if (entry == null || !text.code.substring(directive.end(), entry.getKey()).isBlank()) {
            problems.error(directive.nameOffset(), "'" + name + "' applies to the statement after it, and there is none; put it before a statement or a block");
            return null;
        }
        for (Directive between : directives) {
            if (between.start() > directive.start() && between.start() < entry.getKey() && between.kind().standsAlone()) {
                problems.error(directive.nameOffset(), "'" + name + "' must be followed by its statement, not by '" + between.kind().text + "'");
                return null;
            }
        }
        Scan.Statement statement = entry.getValue();
        switch (statement.tree().getKind()) {
            case VARIABLE, CLASS, INTERFACE, ENUM, RECORD ->
                problems.error(directive.nameOffset(), "'" + name + "' cannot apply to a declaration; put the declaration before it, or both into a block");
            default -> {
                return statement;
            }
        }
        return null;
    }

    private static boolean standsBetweenStatements(Directive directive, Scan scan) {
        Scan.Statement block = null;
        for (Scan.Statement candidate : scan.blocks) { // outer ones come first
            if (candidate.start() < directive.start() && directive.end() < candidate.end()) {
                block = candidate;
            }
        }
        if (block == null) {
            return false;
        }
        return ((com.sun.source.tree.BlockTree) block.tree())
                .getStatements().stream().noneMatch(s -> scan.start(s) < directive.start() && directive.start() < scan.end(s));
    }
}
