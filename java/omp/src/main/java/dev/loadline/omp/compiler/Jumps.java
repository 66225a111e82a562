package dev.loadline.omp.compiler;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.BreakTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ContinueTree;
import com.sun.source.tree.DoWhileLoopTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IfTree;
import com.sun.source.tree.LabeledStatementTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.SynchronizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.WhileLoopTree;
import com.sun.source.tree.YieldTree;
import com.sun.source.util.TreeScanner;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiConsumer;

/** Finds the jumps that leave a construct's statement. */
final class Jumps extends TreeScanner<Void, Void> {
    private final BiConsumer<Tree, String> report;
    private final Set<Tree> ownLoops;
    private final Set<String> labels = new HashSet<>();
    private final Set<String> ownLabels = new HashSet<>();
    private int breakable;
    private int loops;
    private int switchExpressions;

    private Jumps(Set<Tree> ownLoops, BiConsumer<Tree, String> report) {
        this.ownLoops = ownLoops;
        this.report = report;
    }

    /** Reports each jump out of a statement; {@code continue} of the loops that are the construct's own is none. */
    static void outOf(StatementTree statement, Set<Tree> ownLoops, BiConsumer<Tree, String> report) {
        new Jumps(ownLoops, report).scan(statement, null);
    }

    @Override
    public Void visitBreak(BreakTree tree, Void unused) {
        String label = tree.getLabel() == null ? null : tree.getLabel().toString();
        if (label == null ? breakable == 0 : !labels.contains(label) || ownLabels.contains(label)) {
            report.accept(tree, "break");
        }
        return null;
    }

    @Override
    public Void visitContinue(ContinueTree tree, Void unused) {
        String label = tree.getLabel() == null ? null : tree.getLabel().toString();
        if (label == null ? loops == 0 : !labels.contains(label)) {
            report.accept(tree, "continue");
        }
        return null;
    }

    @Override
    public Void visitReturn(ReturnTree tree, Void unused) {
        report.accept(tree, "return");
        return super.visitReturn(tree, unused);
    }

    @Override
    public Void visitYield(YieldTree tree, Void unused) {
        if (switchExpressions == 0) {
            report.accept(tree, "yield");
        }
        return super.visitYield(tree, unused);
    }

    @Override
    public Void visitLabeledStatement(LabeledStatementTree tree, Void unused) {
        String label = tree.getLabel().toString();
        labels.add(label);
        if (ownLoops.contains(Scan.unlabelled(tree))) {
            ownLabels.add(label);
        }
        super.visitLabeledStatement(tree, unused);
        labels.remove(label);
        return null;
    }

    private Void loop(Tree tree, Runnable visit) {
        int b = ownLoops.contains(tree) ? 0 : 1;
        breakable += b;
        loops++;
        visit.run();
        breakable -= b;
        loops--;
        return null;
    }

    @Override
    public Void visitForLoop(ForLoopTree tree, Void unused) {
        return loop(tree, () -> super.visitForLoop(tree, unused));
    }

    @Override
    public Void visitEnhancedForLoop(EnhancedForLoopTree tree, Void unused) {
        return loop(tree, () -> super.visitEnhancedForLoop(tree, unused));
    }

    @Override
    public Void visitWhileLoop(WhileLoopTree tree, Void unused) {
        return loop(tree, () -> super.visitWhileLoop(tree, unused));
    }

    @Override
    public Void visitDoWhileLoop(DoWhileLoopTree tree, Void unused) {
        return loop(tree, () -> super.visitDoWhileLoop(tree, unused));
    }

    @Override
    public Void visitSwitch(SwitchTree tree, Void unused) {
        breakable++;
        super.visitSwitch(tree, unused);
        breakable--;
        return null;
    }

    @Override
    public Void visitSwitchExpression(SwitchExpressionTree tree, Void unused) {
        switchExpressions++;
        super.visitSwitchExpression(tree, unused);
        switchExpressions--;
        return null;
    }

    @Override
    public Void visitLambdaExpression(LambdaExpressionTree tree, Void unused) {
        return null;
    }

    @Override
    public Void visitClass(ClassTree tree, Void unused) {
        return null;
    }

    /** Whether a statement plainly never comes to its end, so that javac refuses a statement after it. */
    static boolean neverEnds(StatementTree statement) {
        return switch (statement.getKind()) {
            case THROW -> true;
            case BLOCK -> ((BlockTree) statement).getStatements().stream().anyMatch(Jumps::neverEnds);
            case SYNCHRONIZED -> neverEnds(((SynchronizedTree) statement).getBlock());
            case IF -> {
                var branch = (IfTree) statement;
                yield branch.getElseStatement() != null && neverEnds(branch.getThenStatement()) && neverEnds(branch.getElseStatement());
            }
            case WHILE_LOOP -> {
                var loop = (WhileLoopTree) statement;
                boolean[] leaves = new boolean[1];
                outOf(loop.getStatement(), Set.of(), (tree, what) -> leaves[0] |= what.equals("break"));
                yield Scan.bare(loop.getCondition()) instanceof LiteralTree literal && Boolean.TRUE.equals(literal.getValue()) && !leaves[0];
            }
            default -> false;
        };
    }
}
