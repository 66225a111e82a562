package dev.loadline.omp.compiler;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnaryTree;

/**
 * The update under an {@code atomic}.
 *
 * @param target what is updated
 * @param operator how, by its name in {@code Op}
 * @param operand with what; null where it is 1
 */
record Atomic(ExpressionTree target, String operator, ExpressionTree operand) {
    /** Reads a statement; null if it is not such an update. */
    static Atomic of(StatementTree statement) {
        if (!(statement instanceof ExpressionStatementTree expression)) {
            return null;
        }
        ExpressionTree tree = Scan.bare(expression.getExpression());
        if (tree instanceof UnaryTree unary) {
            return switch (unary.getKind()) {
                case PREFIX_INCREMENT, POSTFIX_INCREMENT -> new Atomic(unary.getExpression(), "ADD", null);
                case PREFIX_DECREMENT, POSTFIX_DECREMENT -> new Atomic(unary.getExpression(), "SUBTRACT", null);
                default -> null;
            };
        }
        if (tree instanceof CompoundAssignmentTree compound) {
            return new Atomic(compound.getVariable(), operator(compound.getKind()), compound.getExpression());
        }
        if (tree instanceof AssignmentTree assignment) {
            return ofAssignment(assignment.getVariable(), Scan.bare(assignment.getExpression()));
        }
        return null;
    }

    private static Atomic ofAssignment(ExpressionTree target, ExpressionTree value) {
        String name = target.toString();
        if (value instanceof BinaryTree binary && operator(binary.getKind()) != null) {
            String operator = operator(binary.getKind());
            if (Scan.bare(binary.getLeftOperand()).toString().equals(name)) {
                return new Atomic(target, operator, binary.getRightOperand());
            }
            boolean commutes = java.util.Set.of("ADD", "MULTIPLY", "AND", "OR", "XOR").contains(operator);
            if (commutes && Scan.bare(binary.getRightOperand()).toString().equals(name)) {
                return new Atomic(target, operator, binary.getLeftOperand());
            }
        }
        if (value instanceof MethodInvocationTree call && call.getArguments().size() == 2) {
            String method = call.getMethodSelect().toString();
            if (method.equals("Math.min") || method.equals("Math.max")) {
                String operator = method.equals("Math.min") ? "MIN" : "MAX";
                for (int i = 0; i < 2; i++) {
                    if (call.getArguments().get(i).toString().equals(name)) {
                        return new Atomic(target, operator, call.getArguments().get(1 - i));
                    }
                }
            }
        }
        return null;
    }

    private static String operator(Tree.Kind kind) {
        return switch (kind) {
            case PLUS, PLUS_ASSIGNMENT -> "ADD";
            case MINUS, MINUS_ASSIGNMENT -> "SUBTRACT";
            case MULTIPLY, MULTIPLY_ASSIGNMENT -> "MULTIPLY";
            case DIVIDE, DIVIDE_ASSIGNMENT -> "DIVIDE";
            case REMAINDER, REMAINDER_ASSIGNMENT -> "REMAINDER";
            case AND, AND_ASSIGNMENT -> "AND";
            case OR, OR_ASSIGNMENT -> "OR";
            case XOR, XOR_ASSIGNMENT -> "XOR";
            case LEFT_SHIFT, LEFT_SHIFT_ASSIGNMENT -> "SHIFT_LEFT";
            case RIGHT_SHIFT, RIGHT_SHIFT_ASSIGNMENT -> "SHIFT_RIGHT";
            case UNSIGNED_RIGHT_SHIFT, UNSIGNED_RIGHT_SHIFT_ASSIGNMENT -> "SHIFT_RIGHT_UNSIGNED";
            default -> null;
        };
    }
}
