package dev.loadline.omp.compiler;

import com.sun.source.util.TreePath;
import dev.loadline.omp.compiler.Directive.Expression;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.element.Element;

/**
 * A directive with its statement. A combined directive ({@code parallel for}) is two constructs,
 * one inside the other, around one statement.
 */
final class Construct {
    /** What a construct is, when combined directives are taken apart. */
    enum Kind { PARALLEL, FOR, SECTIONS, SECTION, SINGLE, MASTER, CRITICAL, ATOMIC, ORDERED, TASK, SIMD, BARRIER, TASKWAIT, FLUSH }

    /** How a variable of the surroundings is seen inside. */
    enum Share { SHARED, PRIVATE, FIRSTPRIVATE, LASTPRIVATE, FIRST_AND_LAST, REDUCTION }

    final Directive directive;
    final Kind kind;
    /** The statement; null if the directive stands alone. */
    final Scan.Statement statement;
    final Construct parent;
    final List<Construct> children = new ArrayList<>();

    /** What its clauses say, in their order. */
    final Map<Element, Share> shares = new LinkedHashMap<>();
    final Map<Element, String> operators = new LinkedHashMap<>();
    final List<Element> copied = new ArrayList<>();

    /** What variables are called in it, where that differs from outside. */
    final Map<Element, String> names = new LinkedHashMap<>();
    /** Variables that it shares through a box, and those of which it takes the value when it begins. */
    final Set<Element> boxed = new LinkedHashSet<>();
    final Set<Element> snapshots = new LinkedHashSet<>();
    /** Where private copies that begin with a value take it from, if not from the variable itself. */
    final Map<Element, String> sources = new LinkedHashMap<>();
    /** Expressions of clauses as they read in the output. */
    final Map<String, Edits.Code> expressions = new LinkedHashMap<>();
    /** Variables that are assigned in it without a private copy of an inner construct's between. */
    final Set<Element> written = new LinkedHashSet<>();

    /** Loops: the counted ones, from outside in; or the enhanced one. */
    final List<Loop> loops = new ArrayList<>();
    TreePath enhanced;
    /** Atomic: what is updated. */
    Atomic atomic;

    /** Insertions that must come behind those of the constructs inside. */
    final List<Runnable> late = new ArrayList<>();

    /** The member's name in the output; set when it is emitted. */
    String member;
    /** Loops: an expression that is true in a piece's last iteration. */
    String pieceEnds = "false";

    Construct(Directive directive, Kind kind, Scan.Statement statement, Construct parent) {
        this.directive = directive;
        this.kind = kind;
        this.statement = statement;
        this.parent = parent;
        if (parent != null) {
            parent.children.add(this);
        }
    }

    /** Whether something at an offset is in it. */
    boolean contains(int offset) {
        return directive.start() <= offset && offset < end();
    }

    int end() {
        return statement == null ? directive.end() : statement.end();
    }

    /** Whether its code becomes a lambda. */
    boolean isLambda() {
        return kind == Kind.PARALLEL || kind == Kind.TASK;
    }

    boolean isWorkSharing() {
        return kind == Kind.FOR || kind == Kind.SECTIONS || kind == Kind.SINGLE;
    }

    /** Whether this construct, of those that a combined directive becomes, is the one for a clause. */
    boolean owns(String clause) {
        boolean combined = parent != null && parent.directive == directive || children.stream().anyMatch(c -> c.directive == directive);
        if (!combined || kind != Kind.PARALLEL) {
            return !combined || Set.of("lastprivate", "schedule", "ordered", "collapse", "nowait").contains(clause);
        }
        return Set.of("if", "num_threads", "default", "shared", "private", "firstprivate", "reduction").contains(clause);
    }

    /** Whether this is the inner half of a combined directive: its end is the region's end. */
    boolean endsWithRegion() {
        return parent != null && parent.directive == directive;
    }

    Expression expression(String clause) {
        Directive.Clause found = owns(clause) ? directive.clause(clause) : null;
        return found == null ? null : found.argument();
    }

    int collapse() {
        Expression levels = directive.clause("collapse") == null ? null : directive.clause("collapse").argument();
        return levels == null ? 1 : Integer.parseInt(levels.text());
    }

    /** The directive's name as the user wrote it. */
    String name() {
        return directive.kind().text;
    }
}
