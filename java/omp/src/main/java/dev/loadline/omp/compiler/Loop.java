package dev.loadline.omp.compiler;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnaryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import javax.lang.model.element.Element;
import javax.lang.model.type.TypeKind;

/**
 * A {@code for} loop whose iterations can be counted before it runs.
 *
 * @param tree javac's
 * @param path the way there
 * @param variable its variable
 * @param declared whether the loop declares it
 * @param from expression of the first value
 * @param bound expression that the variable is compared with
 * @param count name of the method in {@code Loops} that counts its iterations
 * @param inclusive whether the bound is still an iteration
 * @param step expression of the step; null where it is 1
 * @param down whether the step is subtracted
 */
record Loop(
        ForLoopTree tree,
        TreePath path,
        Element variable,
        boolean declared,
        ExpressionTree from,
        ExpressionTree bound,
        String count,
        boolean inclusive,
        ExpressionTree step,
        boolean down) {

    /** Why a loop is not one of these. */
    static final class Unsuited extends RuntimeException {
        private static final long serialVersionUID = 1;
        final transient Tree place;

        Unsuited(Tree place, String message) {
            super(message, null, false, false);
            this.place = place;
        }
    }

    boolean isLong() {
        return variable.asType().getKind() == TypeKind.LONG;
    }

    String type() {
        return isLong() ? "long" : "int";
    }

    /** Reads a loop. */
    static Loop of(TreePath path, Scan scan) {
        var tree = (ForLoopTree) path.getLeaf();
        if (tree.getInitializer().size() != 1) {
            throw new Unsuited(tree, "a parallel loop initializes its variable and nothing else; write for (int i = 0; …");
        }
        StatementTree init = tree.getInitializer().get(0);
        var initPath = new TreePath(path, init);
        Element variable;
        ExpressionTree from;
        boolean declared = init instanceof VariableTree;
        if (init instanceof VariableTree declaration) {
            variable = scan.elementOf(initPath);
            from = declaration.getInitializer();
        } else if (((ExpressionStatementTree) init).getExpression() instanceof AssignmentTree assignment
                && assignment.getVariable() instanceof IdentifierTree) {
            variable = scan.elementOf(new TreePath(new TreePath(new TreePath(path, init), assignment), assignment.getVariable()));
            from = assignment.getExpression();
        } else {
            throw new Unsuited(init, "a parallel loop begins by giving its variable a value; write for (int i = 0; …");
        }
        if (from == null) {
            throw new Unsuited(init, "the loop variable has no first value; write for (int i = 0; …");
        }
        TypeKind type = variable.asType().getKind();
        if (type != TypeKind.INT && type != TypeKind.LONG || !Scan.isLocal(variable)) {
            throw new Unsuited(init, "the variable of a parallel loop is a local int or long, not a " + variable.asType());
        }
        return withCondition(tree, path, variable, declared, from);
    }

    private static Loop withCondition(ForLoopTree tree, TreePath path, Element variable, boolean declared, ExpressionTree from) {
        String name = variable.getSimpleName().toString();
        String wanted = "the condition of a parallel loop compares its variable with a bound; write " + name + " < n";
        if (tree.getCondition() == null) {
            throw new Unsuited(tree, wanted);
        }
        if (!(Scan.bare(tree.getCondition()) instanceof BinaryTree condition)) {
            throw new Unsuited(tree.getCondition(), wanted);
        }
        boolean left = isVariable(condition.getLeftOperand(), name);
        if (!left && !isVariable(condition.getRightOperand(), name)) {
            throw new Unsuited(condition, wanted);
        }
        ExpressionTree bound = left ? condition.getRightOperand() : condition.getLeftOperand();
        Tree.Kind comparison = left ? condition.getKind() : switch (condition.getKind()) {
            case LESS_THAN -> Tree.Kind.GREATER_THAN;
            case GREATER_THAN -> Tree.Kind.LESS_THAN;
            case LESS_THAN_EQUAL -> Tree.Kind.GREATER_THAN_EQUAL;
            case GREATER_THAN_EQUAL -> Tree.Kind.LESS_THAN_EQUAL;
            default -> condition.getKind();
        };
        Step step = step(tree, name);
        boolean one = step.amount == null;
        String count = switch (comparison) {
            case LESS_THAN -> "up";
            case LESS_THAN_EQUAL -> "upTo";
            case GREATER_THAN -> "down";
            case GREATER_THAN_EQUAL -> "downTo";
            case NOT_EQUAL_TO -> {
                if (!one) {
                    throw new Unsuited(condition, "with '!=' the step must be 1; write " + name + " < bound");
                }
                yield step.down ? "down" : "up";
            }
            default -> throw new Unsuited(condition, wanted);
        };
        if (one && step.down != count.startsWith("down")) {
            throw new Unsuited(condition, "the loop counts " + (step.down ? "down" : "up") + ", but its condition holds " + (step.down ? "below" : "above") + " the bound");
        }
        boolean inclusive = count.endsWith("To");
        return new Loop(tree, path, variable, declared, from, bound, count, inclusive, step.amount, step.down);
    }

    private record Step(ExpressionTree amount, boolean down) {}

    private static Step step(ForLoopTree tree, String name) {
        String wanted = "a parallel loop changes its variable by a fixed step; write " + name + "++ or " + name + " += step";
        if (tree.getUpdate().size() != 1) {
            throw new Unsuited(tree.getUpdate().isEmpty() ? tree : tree.getUpdate().get(1), wanted);
        }
        ExpressionTree update = tree.getUpdate().get(0).getExpression();
        if (update instanceof UnaryTree unary && isVariable(unary.getExpression(), name)) {
            return new Step(null, unary.getKind() == Tree.Kind.POSTFIX_DECREMENT || unary.getKind() == Tree.Kind.PREFIX_DECREMENT);
        }
        if (update instanceof CompoundAssignmentTree compound && isVariable(compound.getVariable(), name)) {
            if (compound.getKind() == Tree.Kind.PLUS_ASSIGNMENT || compound.getKind() == Tree.Kind.MINUS_ASSIGNMENT) {
                return new Step(compound.getExpression(), compound.getKind() == Tree.Kind.MINUS_ASSIGNMENT);
            }
        }
        if (update instanceof AssignmentTree assignment && isVariable(assignment.getVariable(), name)
                && Scan.bare(assignment.getExpression()) instanceof BinaryTree sum) {
            boolean plus = sum.getKind() == Tree.Kind.PLUS;
            if ((plus || sum.getKind() == Tree.Kind.MINUS) && isVariable(sum.getLeftOperand(), name)) {
                return new Step(sum.getRightOperand(), !plus);
            }
            if (plus && isVariable(sum.getRightOperand(), name)) {
                return new Step(sum.getLeftOperand(), false);
            }
        }
        throw new Unsuited(update, wanted);
    }

    private static boolean isVariable(ExpressionTree tree, String name) {
        return Scan.bare(tree) instanceof IdentifierTree identifier && identifier.getName().contentEquals(name);
    }

    /** The loop that is all there is in another's body; null if there is more, or none. */
    static TreePath perfectlyNested(TreePath loop) {
        StatementTree body = ((ForLoopTree) loop.getLeaf()).getStatement();
        var path = new TreePath(loop, body);
        while (path.getLeaf() instanceof BlockTree block && block.getStatements().size() == 1) {
            path = new TreePath(path, block.getStatements().get(0));
        }
        return path.getLeaf() instanceof ForLoopTree ? path : null;
    }

    /** The way to the loop of a statement, behind its labels; null if it is none. */
    static TreePath loopIn(TreePath statement) {
        TreePath path = statement;
        while (path.getLeaf() instanceof com.sun.source.tree.LabeledStatementTree labelled) {
            path = new TreePath(path, labelled.getStatement());
        }
        return path.getLeaf() instanceof ForLoopTree || path.getLeaf() instanceof EnhancedForLoopTree ? path : null;
    }
}
