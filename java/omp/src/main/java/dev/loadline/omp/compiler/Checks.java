package dev.loadline.omp.compiler;

import com.sun.source.tree.ArrayAccessTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import dev.loadline.omp.compiler.Construct.Kind;
import dev.loadline.omp.compiler.Construct.Share;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.Element;
import javax.lang.model.element.Modifier;

/** Refuses constructs that have no meaning. What they find out about loops and updates they leave in the construct. */
final class Checks {
    /** As {@code Member.MOST_REDUCED}. */
    private static final int MOST_REDUCED = dev.loadline.omp.Omp.MOST_REDUCED;

    private final List<Construct> constructs;
    private final Scan scan;
    private final Sharing sharing;
    private final Reductions reductions;
    private final Problems problems;

    Checks(List<Construct> constructs, Scan scan, Sharing sharing, Reductions reductions, Problems problems) {
        this.constructs = constructs;
        this.scan = scan;
        this.sharing = sharing;
        this.reductions = reductions;
        this.problems = problems;
    }

    /** What must be known before clauses are read: the shapes of statements. */
    void shapes() {
        for (Construct construct : constructs) {
            switch (construct.kind) {
                case FOR, SIMD -> loop(construct);
                case SECTIONS -> sections(construct);
                case SECTION -> section(construct);
                case ATOMIC -> atomic(construct);
                default -> { }
            }
        }
    }

    /** All else. */
    void meanings() {
        for (Construct construct : constructs) {
            nesting(construct);
            if (construct.statement != null && !construct.endsWithRegion() && construct.kind != Kind.SIMD) {
                jumps(construct);
            }
            reduced(construct);
            if (construct.directive.has("copyprivate") && construct.directive.has("nowait")) {
                problems.error(construct.directive.clause("nowait").offset(), "'nowait' cannot be with 'copyprivate': all threads wait for the copies; take one away");
            }
            if (construct.kind == Kind.PARALLEL) {
                notWhileInitializing(construct);
            }
        }
    }

    private String at(Construct construct) {
        return "'" + construct.name() + "'";
    }

    // ---- loops ----

    private void loop(Construct construct) {
        TreePath path = Loop.loopIn(construct.statement.path());
        if (path == null) {
            problems.error(construct.directive.nameOffset(), at(construct) + " applies to a for loop, and the statement after it is none");
            return;
        }
        int levels = construct.collapse();
        if (path.getLeaf() instanceof EnhancedForLoopTree loop) {
            if (levels > 1) {
                problems.error(construct.directive.clause("collapse").offset(), "'collapse' takes loops that count, not 'for (" + loop.getVariable() + " : …)'");
            } else {
                construct.enhanced = path;
            }
            return;
        }
        if (construct.kind == Kind.SIMD) {
            return; // a hint, for any loop
        }
        try {
            for (int level = 1; level <= levels; level++) {
                Loop loop = Loop.of(path, scan);
                construct.loops.add(loop);
                assignments(construct, loop);
                if (level < levels) {
                    path = Loop.perfectlyNested(path);
                    if (path == null) {
                        problems.error(construct.directive.clause("collapse").offset(), "'collapse(" + levels + ")' needs " + levels
                                + " loops, each with nothing but the next in it; here are " + level);
                        return;
                    }
                }
            }
        } catch (Loop.Unsuited e) {
            problems.error(scan.start(e.place), e.getMessage());
            return;
        }
        if (levels > 1) {
            rectangle(construct);
        }
    }

    private void assignments(Construct construct, Loop loop) {
        StatementTree body = loop.tree().getStatement();
        for (Scan.Use use : scan.uses) {
            if (use.write() && use.element().equals(loop.variable()) && scan.start(body) <= use.offset() && use.offset() < scan.end(body)) {
                problems.error(use.offset(), "the variable of a parallel loop cannot be assigned in its body; use another variable");
            }
        }
        if (!loop.declared()) {
            if (construct.loops.size() > 1 || construct.collapse() > 1) {
                problems.error(scan.start(loop.tree()), "with 'collapse' each loop must declare its variable; write for (int " + loop.variable().getSimpleName() + " = …");
            } else {
                construct.shares.put(loop.variable(), Share.PRIVATE);
            }
        }
    }

    private void rectangle(Construct construct) {
        Set<Element> outer = new HashSet<>();
        for (Loop loop : construct.loops) {
            for (Scan.Use use : scan.uses) {
                boolean inHead = scan.start(loop.tree()) <= use.offset() && use.offset() < scan.start(loop.tree().getStatement());
                if (inHead && outer.contains(use.element())) {
                    problems.error(use.offset(), "with 'collapse' no loop's range may depend on another's variable, as here on '" + use.element().getSimpleName() + "'");
                }
            }
            outer.add(loop.variable());
        }
    }

    // ---- other shapes ----

    private void sections(Construct construct) {
        if (!(construct.statement.tree() instanceof BlockTree block)) {
            problems.error(construct.directive.nameOffset(), at(construct) + " applies to a block of sections; write { //omp section … }");
            return;
        }
        int number = 0;
        for (StatementTree statement : block.getStatements()) {
            boolean marked = constructs.stream().anyMatch(c -> c.kind == Kind.SECTION && c.parent == construct && c.statement.tree() == statement);
            if (!marked && number > 0 || statement instanceof VariableTree) {
                problems.error(scan.start(statement), "each statement in " + at(construct) + " must be a section; put //omp section before it, or braces around it and its section");
            }
            number++;
        }
        if (number == 0) {
            problems.error(construct.directive.nameOffset(), at(construct) + " has no section");
        }
    }

    private void section(Construct construct) {
        Construct parent = construct.parent;
        boolean direct = parent != null && parent.kind == Kind.SECTIONS && parent.statement.tree() instanceof BlockTree block
                && block.getStatements().contains(construct.statement.tree());
        if (!direct) {
            problems.error(construct.directive.nameOffset(), "'section' belongs directly into the block of a 'sections'");
        }
    }

    private void atomic(Construct construct) {
        Atomic atomic = Atomic.of(construct.statement.tree());
        if (atomic == null || !suited(atomic.target())) {
            problems.error(construct.directive.nameOffset(), "'atomic' applies to an update of one variable: x++, x op= e, x = x op e, x = Math.min(x, e) or Math.max; use 'critical' for other statements");
        } else {
            construct.atomic = atomic;
        }
    }

    private static boolean suited(Tree target) {
        return target instanceof IdentifierTree || target instanceof ArrayAccessTree || target instanceof MemberSelectTree;
    }

    // ---- meanings ----

    /** The construct around another that runs in the same method. */
    private Construct around(Construct construct) {
        Construct parent = construct.parent;
        boolean same = parent != null && (parent.directive == construct.directive || parent.statement == null
                || scan.sameMethod(construct.directive.start(), parent.statement.start() - 1, parent.statement.end() + 1));
        return same ? parent : null;
    }

    private void nesting(Construct construct) {
        boolean meetsAll = construct.isWorkSharing() || construct.kind == Kind.BARRIER;
        if (construct.kind == Kind.ORDERED) {
            Construct loop = around(construct);
            if (loop != null && loop.kind != Kind.PARALLEL && !(loop.kind == Kind.FOR && loop.directive.has("ordered"))) {
                problems.error(construct.directive.nameOffset(), loop.kind == Kind.FOR
                        ? "'ordered' needs the clause 'ordered' on its '" + loop.name() + "'"
                        : "'ordered' belongs directly into a loop that has the clause 'ordered', not into '" + loop.name() + "'");
            }
        }
        if (!meetsAll && construct.kind != Kind.MASTER) {
            return;
        }
        for (Construct c = around(construct); c != null && c.kind != Kind.PARALLEL; c = around(c)) {
            boolean wrong = c.isWorkSharing() || c.kind == Kind.TASK || c.kind == Kind.SECTION
                    || meetsAll && (c.kind == Kind.MASTER || c.kind == Kind.CRITICAL || c.kind == Kind.ORDERED || c.kind == Kind.ATOMIC);
            if (wrong) {
                problems.error(construct.directive.nameOffset(), at(construct) + " cannot be inside '" + c.name()
                        + "': not every thread of the team comes here; put a 'parallel' around it, or move it out");
                return;
            }
        }
    }

    private void jumps(Construct construct) {
        Set<Tree> own = new HashSet<>();
        Construct loop = construct.children.stream().filter(c -> c.directive == construct.directive).findFirst().orElse(construct);
        loop.loops.forEach(l -> own.add(l.tree()));
        if (loop.enhanced != null) {
            own.add(loop.enhanced.getLeaf());
        }
        Jumps.outOf(construct.statement.tree(), own, (tree, what) -> problems.error(scan.start(tree), "'" + what + "' would leave '" + construct.name()
                + "', which its threads can only end together" + switch (what) {
                    case "break" -> "; use a flag, or 'continue' for the iterations that are left";
                    case "return" -> "; keep the result in a variable and return after it";
                    default -> "; keep jumps inside";
                }));
    }

    private void reduced(Construct construct) {
        if (construct.operators.size() > MOST_REDUCED || construct.copied.size() > MOST_REDUCED) {
            problems.error(construct.directive.nameOffset(), "one directive can have at most " + MOST_REDUCED + " variables in 'reduction' or 'copyprivate'; use an array, or two directives");
        }
        construct.operators.forEach((variable, operator) -> {
            int offset = construct.directive.all("reduction").stream().flatMap(c -> c.items().stream())
                    .filter(item -> variable.getSimpleName().contentEquals(item.name())).findFirst().orElseThrow().offset();
            String complaint = reductions.complaint(operator, variable.asType());
            if (complaint != null) {
                problems.error(offset, complaint);
            }
            boolean inRegion = construct.isWorkSharing() && !construct.endsWithRegion();
            if (inRegion && Scan.isLocal(variable) && isThreadsOwn(variable, construct)) {
                problems.error(offset, "'" + variable.getSimpleName() + "' is each thread's own here, so there is nothing to reduce into; declare it before the region, and share it");
            }
        });
    }

    private boolean isThreadsOwn(Element variable, Construct construct) {
        for (Construct c = construct.parent; c != null; c = c.parent) {
            if (sharing.declaredIn(variable, c) || Sharing.isPrivate(variable, c)) {
                return true;
            }
            if (c.kind == Kind.PARALLEL) {
                return false;
            }
        }
        return true; // a local variable of a method that each thread calls
    }

    private void notWhileInitializing(Construct construct) {
        for (TreePath path = construct.statement.path(); path != null; path = path.getParentPath()) {
            Tree tree = path.getLeaf();
            if (tree instanceof MethodTree) {
                return;
            }
            boolean initializer = tree instanceof BlockTree block && block.isStatic()
                    || tree instanceof VariableTree field && field.getModifiers().getFlags().contains(Modifier.STATIC);
            if (initializer) {
                problems.error(construct.directive.nameOffset(), at(construct)
                        + " in a static initializer would never end: other threads wait until the class is initialized; put it into a method");
                return;
            }
        }
    }

    /** The header of a loop, up to the bracket that closes it. */
    static int headerEnd(SourceText text, int loopStart) {
        return text.afterMatching(text.bare.indexOf('(', loopStart));
    }

}
