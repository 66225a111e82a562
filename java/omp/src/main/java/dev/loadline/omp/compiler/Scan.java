package dev.loadline.omp.compiler;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.CaseTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LabeledStatementTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnaryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;

/** What javac knows of one file, in the order of the text: statements, variables and their uses. */
final class Scan extends TreePathScanner<Void, Void> {
    /**
     * A local variable.
     *
     * @param element javac's
     * @param tree its declaration
     * @param path the way there
     * @param start where the declaration begins
     * @param scopeEnd where the statement or block that has it ends
     * @param initialized whether it has a value from its declaration on
     */
    record Declaration(Element element, VariableTree tree, TreePath path, int start, int scopeEnd, boolean initialized) {}

    /**
     * A place where a variable is named.
     *
     * @param element which variable
     * @param offset where
     * @param write whether it is assigned there
     */
    record Use(Element element, int offset, boolean write) {}

    /**
     * A statement and where it stands.
     *
     * @param path the way there
     * @param start its first character
     * @param end after its last
     */
    record Statement(TreePath path, int start, int end) {
        StatementTree tree() {
            return (StatementTree) path.getLeaf();
        }
    }

    /**
     * Code that runs as a method of its own: a lambda's or a class's.
     *
     * @param start its first character
     * @param end after its last
     */
    record Boundary(int start, int end) {}

    final Map<Element, Declaration> declarations = new LinkedHashMap<>();
    final List<Use> uses = new ArrayList<>();
    final TreeMap<Integer, Statement> statements = new TreeMap<>();
    final List<Boundary> boundaries = new ArrayList<>();
    final List<Statement> blocks = new ArrayList<>();

    private final CompilationUnitTree unit;
    private final Trees trees;
    private final SourcePositions positions;
    private final Set<Tree> written = new HashSet<>();

    Scan(CompilationUnitTree unit, Trees trees) {
        this.unit = unit;
        this.trees = trees;
        this.positions = trees.getSourcePositions();
        scan(unit, null);
    }

    Element elementOf(TreePath path) {
        return trees.getElement(path);
    }

    int start(Tree tree) {
        return (int) positions.getStartPosition(unit, tree);
    }

    int end(Tree tree) {
        return (int) positions.getEndPosition(unit, tree);
    }

    /** The way to the innermost statement around an offset; null if there is none. */
    TreePath around(int offset) {
        TreePath found = null;
        for (Statement statement : statements.headMap(offset, true).values()) { // the innermost begins last
            if (offset < statement.end()) {
                found = statement.path();
            }
        }
        return found;
    }

    /** Whether code at one offset runs as part of the same method as code at another that is around it. */
    boolean sameMethod(int inner, int outerStart, int outerEnd) {
        return boundaries.stream().noneMatch(b -> b.start <= inner && inner < b.end && outerStart < b.start && b.end <= outerEnd);
    }

    @Override
    public Void scan(Tree tree, Void unused) {
        if (tree instanceof StatementTree && getCurrentPath() != null && isStatementPlace(getCurrentPath().getLeaf(), tree)) {
            int start = start(tree);
            if (start >= 0) {
                statements.putIfAbsent(start, new Statement(new TreePath(getCurrentPath(), tree), start, end(tree)));
            }
        }
        return super.scan(tree, unused);
    }

    private static boolean isStatementPlace(Tree parent, Tree child) {
        return switch (parent.getKind()) {
            case FOR_LOOP -> ((ForLoopTree) parent).getStatement() == child;
            case LABELED_STATEMENT, TRY, SYNCHRONIZED, CATCH, METHOD, LAMBDA_EXPRESSION, CLASS, INTERFACE, ENUM, RECORD, COMPILATION_UNIT -> false;
            case ENHANCED_FOR_LOOP -> ((EnhancedForLoopTree) parent).getStatement() == child;
            default -> !(child instanceof VariableTree || child instanceof ClassTree) || parent instanceof BlockTree || parent instanceof CaseTree;
        };
    }

    @Override
    public Void visitBlock(BlockTree tree, Void unused) {
        blocks.add(new Statement(getCurrentPath(), start(tree), end(tree)));
        return super.visitBlock(tree, unused);
    }

    @Override
    public Void visitVariable(VariableTree tree, Void unused) {
        Element element = trees.getElement(getCurrentPath());
        if (element != null && isLocal(element)) {
            TreePath parentPath = getCurrentPath().getParentPath();
            Tree parent = parentPath.getLeaf();
            boolean plain = parent instanceof BlockTree || parent instanceof CaseTree || parent instanceof ForLoopTree;
            TreePath scope = parentPath;
            while (element.getKind() == ElementKind.BINDING_VARIABLE && !(scope.getLeaf() instanceof BlockTree)) {
                scope = scope.getParentPath();
            }
            int start = start(tree);
            declarations.put(element, new Declaration(element, tree, getCurrentPath(), start < 0 ? start(parent) : start, end(scope.getLeaf()), !plain || tree.getInitializer() != null));
        }
        return super.visitVariable(tree, unused);
    }

    static boolean isLocal(Element element) {
        return switch (element.getKind()) {
            case LOCAL_VARIABLE, PARAMETER, EXCEPTION_PARAMETER, RESOURCE_VARIABLE, BINDING_VARIABLE -> true;
            default -> false;
        };
    }

    @Override
    public Void visitIdentifier(IdentifierTree tree, Void unused) {
        Element element = trees.getElement(getCurrentPath());
        int start = start(tree);
        if (element != null && start >= 0 && (isLocal(element) || element.getKind() == ElementKind.FIELD)) {
            uses.add(new Use(element, start, written.contains(tree)));
        }
        return super.visitIdentifier(tree, unused);
    }

    @Override
    public Void visitAssignment(AssignmentTree tree, Void unused) {
        written.add(bare(tree.getVariable()));
        return super.visitAssignment(tree, unused);
    }

    @Override
    public Void visitCompoundAssignment(CompoundAssignmentTree tree, Void unused) {
        written.add(bare(tree.getVariable()));
        return super.visitCompoundAssignment(tree, unused);
    }

    @Override
    public Void visitUnary(UnaryTree tree, Void unused) {
        switch (tree.getKind()) {
            case PREFIX_INCREMENT, PREFIX_DECREMENT, POSTFIX_INCREMENT, POSTFIX_DECREMENT -> written.add(bare(tree.getExpression()));
            default -> { }
        }
        return super.visitUnary(tree, unused);
    }

    @Override
    public Void visitLambdaExpression(LambdaExpressionTree tree, Void unused) {
        boundaries.add(new Boundary(start(tree), end(tree)));
        return super.visitLambdaExpression(tree, unused);
    }

    @Override
    public Void visitClass(ClassTree tree, Void unused) {
        boundaries.add(new Boundary(start(tree), end(tree)));
        return super.visitClass(tree, unused);
    }

    /** An expression without brackets around it. */
    static ExpressionTree bare(ExpressionTree tree) {
        ExpressionTree inner = tree;
        while (inner instanceof ParenthesizedTree brackets) {
            inner = brackets.getExpression();
        }
        return inner;
    }

    /** The statement behind labels. */
    static StatementTree unlabelled(StatementTree tree) {
        StatementTree inner = tree;
        while (inner instanceof LabeledStatementTree labelled) {
            inner = labelled.getStatement();
        }
        return inner;
    }
}
