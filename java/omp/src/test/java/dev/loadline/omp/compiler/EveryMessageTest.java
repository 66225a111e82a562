package dev.loadline.omp.compiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** Finds in the compiler's own source all that it may complain of, and each of it among the refusals that are tested. */
class EveryMessageTest {
    private static final Set<String> REPORTS = Set.of("error", "warning", "wrong");
    private static final Set<String> EXCEPTIONS = Set.of("Malformed", "Unsuited", "Unsupported");
    /** Shorter pieces are names and brackets. */
    private static final int TELLING = 12;

    @Test
    void each_message_of_the_compiler_is_seen_by_a_test() throws Exception {
        var seen = new StringBuilder();
        for (String body : (Iterable<String>) RefusalsTest.refusals().map(a -> (String) a.get()[0])::iterator) {
            InMemory.refuse(RefusalsTest.program(body)).forEach(d -> seen.append(d.getMessage(null)).append('\n'));
        }
        List<String> unseen = new ArrayList<>();
        Set<String> pieces = messages();
        assertTrue(pieces.size() > 60, "found only " + pieces);
        for (String piece : pieces) {
            if (seen.indexOf(piece) < 0) {
                unseen.add(piece);
            }
        }
        // These two have tests of their own, as their programs are not bodies of a method.
        unseen.removeIf(piece -> piece.contains("in a static initializer would never end") || piece.contains("without a blank before 'omp'"));
        assertEquals(List.of(), unseen);
    }

    /** The longest fixed piece of each message in the compiler's sources; the command's own are tested with the command. */
    private static Set<String> messages() throws Exception {
        Set<String> found = new LinkedHashSet<>();
        Path sources = Path.of("src/main/java/dev/loadline/omp/compiler");
        try (var files = Files.list(sources); var manager = ToolProvider.getSystemJavaCompiler().getStandardFileManager(null, null, null)) {
            var list = files.filter(f -> f.toString().endsWith(".java") && !f.endsWith("Main.java")).sorted().toList();
            var task = (JavacTask) ToolProvider.getSystemJavaCompiler().getTask(null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(list));
            var scanner = new Messages(found);
            task.parse().forEach(unit -> scanner.scan(unit, null));
        }
        return found;
    }

    private static final class Messages extends TreeScanner<Void, Void> {
        private final Set<String> found;

        Messages(Set<String> found) {
            this.found = found;
        }

        private void message(ExpressionTree tree) {
            String piece = longest(tree);
            if (piece.length() >= TELLING) {
                found.add(piece);
            }
        }

        /** The longest literal of a sum; branches of conditions are messages of their own. */
        private String longest(Tree tree) {
            if (tree instanceof LiteralTree literal && literal.getValue() instanceof String text) {
                return text;
            } else if (tree instanceof ParenthesizedTree brackets) {
                return longest(brackets.getExpression());
            } else if (tree instanceof BinaryTree sum) {
                String left = longest(sum.getLeftOperand());
                String right = longest(sum.getRightOperand());
                return left.length() >= right.length() ? left : right;
            } else if (tree instanceof ConditionalExpressionTree condition) {
                message(condition.getTrueExpression());
                message(condition.getFalseExpression());
            }
            return "";
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void unused) {
            String name = call.getMethodSelect().toString();
            if (REPORTS.contains(name.substring(name.lastIndexOf('.') + 1))) {
                message(call.getArguments().get(call.getArguments().size() - 1));
            }
            return super.visitMethodInvocation(call, null);
        }

        @Override
        public Void visitNewClass(NewClassTree made, Void unused) {
            String name = made.getIdentifier().toString();
            if (EXCEPTIONS.contains(name.substring(name.lastIndexOf('.') + 1))) {
                message(made.getArguments().get(made.getArguments().size() - 1));
            }
            return super.visitNewClass(made, null);
        }

        @Override
        public Void visitVariable(VariableTree variable, Void unused) {
            if (variable.getName().contentEquals("wanted") && variable.getInitializer() != null) {
                message(variable.getInitializer());
            }
            return super.visitVariable(variable, null);
        }

        @Override
        public Void visitMethod(MethodTree method, Void unused) {
            if (method.getName().contentEquals("complaint")) {
                new TreeScanner<Void, Void>() {
                    @Override
                    public Void visitReturn(ReturnTree tree, Void none) {
                        message(tree.getExpression());
                        return null;
                    }
                }.scan(method, null);
            }
            return super.visitMethod(method, null);
        }
    }
}
