package dev.loadline.omp.compiler;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.UnionTypeTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.lang.model.element.Element;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/**
 * The checked exceptions that a statement can throw. In the output it is inside of a lambda, out of
 * which javac sees none; so the emitter says after the region what may come out.
 */
final class Thrown extends TreePathScanner<Void, Void> {
    private final Trees trees;
    private final Types types;
    private final Elements elements;
    private List<TypeMirror> found = new ArrayList<>();
    private final Map<Element, List<TypeMirror>> rethrown = new HashMap<>();

    private Thrown(Trees trees, Types types, Elements elements) {
        this.trees = trees;
        this.types = types;
        this.elements = elements;
    }

    static List<TypeMirror> by(TreePath statement, Trees trees, Types types, Elements elements) {
        var scanner = new Thrown(trees, types, elements);
        scanner.scan(statement, null);
        return scanner.found;
    }

    private void add(TypeMirror type) {
        boolean checked = type.getKind() == TypeKind.DECLARED
                && !types.isSubtype(type, elements.getTypeElement("java.lang.RuntimeException").asType())
                && !types.isSubtype(type, elements.getTypeElement("java.lang.Error").asType());
        if (checked && found.stream().noneMatch(known -> types.isSameType(known, type))) {
            found.add(type);
        }
    }

    private void addThrownBy(Element element) {
        if (element instanceof ExecutableElement method) {
            method.getThrownTypes().forEach(this::add);
        }
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree tree, Void unused) {
        addThrownBy(trees.getElement(getCurrentPath()));
        return super.visitMethodInvocation(tree, unused);
    }

    @Override
    public Void visitNewClass(NewClassTree tree, Void unused) {
        addThrownBy(trees.getElement(getCurrentPath()));
        scan(tree.getArguments(), unused); // and not the body of an anonymous class
        return null;
    }

    @Override
    public Void visitThrow(ThrowTree tree, Void unused) {
        var thrown = Scan.bare(tree.getExpression());
        var path = new TreePath(getCurrentPath(), tree.getExpression());
        List<TypeMirror> caught = thrown instanceof IdentifierTree ? rethrown.get(trees.getElement(path)) : null;
        if (caught != null) {
            caught.forEach(this::add);
        } else {
            add(trees.getTypeMirror(path));
        }
        return super.visitThrow(tree, unused);
    }

    @Override
    public Void visitTry(TryTree tree, Void unused) {
        List<TypeMirror> outside = found;
        found = new ArrayList<>();
        for (Tree resource : tree.getResources()) {
            TypeMirror type = trees.getTypeMirror(new TreePath(getCurrentPath(), resource));
            if (type instanceof DeclaredType declared) {
                elements.getAllMembers((TypeElement) declared.asElement()).stream()
                        .filter(e -> e instanceof ExecutableElement m && m.getSimpleName().contentEquals("close") && m.getParameters().isEmpty())
                        .forEach(this::addThrownBy);
            }
        }
        scan(tree.getResources(), unused);
        scan(tree.getBlock(), unused);
        List<TypeMirror> inside = found;
        found = outside;
        List<TypeMirror> caught = new ArrayList<>();
        for (CatchTree handler : tree.getCatches()) {
            var parameterPath = new TreePath(new TreePath(getCurrentPath(), handler), handler.getParameter());
            List<TypeMirror> handled = new ArrayList<>();
            Tree type = handler.getParameter().getType();
            List<? extends Tree> alternatives = type instanceof UnionTypeTree union ? union.getTypeAlternatives() : List.of(type);
            for (Tree alternative : alternatives) {
                handled.add(trees.getTypeMirror(new TreePath(parameterPath, alternative)));
            }
            Element parameter = trees.getElement(parameterPath);
            rethrown.put(parameter, inside.stream()
                    .filter(t -> handled.stream().anyMatch(h -> types.isSubtype(t, h)) && caught.stream().noneMatch(h -> types.isSubtype(t, h)))
                    .toList());
            caught.addAll(handled);
        }
        inside.stream().filter(t -> caught.stream().noneMatch(h -> types.isSubtype(t, h))).forEach(this::add);
        scan(tree.getCatches(), unused);
        scan(tree.getFinallyBlock(), unused);
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
}
