package dev.loadline.omp.compiler;

import com.sun.source.tree.ArrayAccessTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.Trees;
import dev.loadline.omp.compiler.Edits.Code;
import javax.lang.model.element.Element;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/**
 * Writes atomic updates: lock-free for int, long, float and double in arrays and shared local
 * variables, and under the field's monitor for all else. Which of the two depends on the place alone,
 * so that all updates of one place exclude one another.
 */
final class AtomicEmitter {
    private final Emitter emitter;
    private final Trees trees;

    AtomicEmitter(Emitter emitter, Trees trees) {
        this.emitter = emitter;
        this.trees = trees;
    }

    void emit(Construct construct, Code before, StringBuilder after) {
        Atomic atomic = construct.atomic;
        ExpressionTree target = atomic.target();
        TreePath path = find(construct, target);
        TypeMirror type = trees.getTypeMirror(path);
        Code place = null;
        Element element = trees.getElement(path);
        String monitor;
        if (target instanceof ArrayAccessTree access) {
            monitor = type + "[]";
            place = moved(access.getExpression()).add(", ").add(moved(access.getIndex()));
        } else if (target instanceof IdentifierTree && element != null && Scan.isLocal(element)) {
            String name = emitter.sharing.nameIn(element, construct);
            if (!name.endsWith(".v")) { // the thread's own: nobody else updates it
                return;
            }
            monitor = "local " + type;
            place = Code.of(name.substring(0, name.length() - 2));
        } else {
            monitor = element == null ? target.toString() : element.getEnclosingElement() + "." + element.getSimpleName();
        }
        boolean lockFree = place != null && switch (type.getKind()) {
            case INT, LONG, FLOAT, DOUBLE -> true;
            default -> false;
        };
        if (!lockFree) {
            before.add("{ synchronized (" + Emitter.RUNTIME + "Locks.atomic(\"" + monitor + "\")) { ");
            after.append(" } }");
            return;
        }
        Code operand = atomic.operand() == null ? Code.of("1") : checked(construct, atomic, type);
        Code update = Code.of(Emitter.RUNTIME + "Atomics.update(").add(place).add(", " + Emitter.RUNTIME + "Op." + atomic.operator() + ", ").add(operand).add(");");
        emitter.edits.replace(construct.statement.start(), construct.statement.end(), update);
    }

    private Code checked(Construct construct, Atomic atomic, TypeMirror type) {
        TypeMirror operand = trees.getTypeMirror(find(construct, atomic.operand()));
        if (rank(operand.getKind()) > rank(type.getKind())) {
            throw new Emitter.Unsupported(emitter.scan.start(atomic.operand()), "'atomic' on a " + type + " takes a " + type + ", not a " + operand + "; cast it");
        }
        return moved(atomic.operand());
    }

    private static int rank(TypeKind kind) {
        return switch (kind) {
            case DOUBLE -> 4;
            case FLOAT -> 3;
            case LONG -> 2;
            default -> 1;
        };
    }

    private static TreePath find(Construct construct, ExpressionTree tree) {
        return TreePath.getPath(construct.statement.path(), tree);
    }

    private Code moved(ExpressionTree tree) {
        return emitter.edits.moved(emitter.scan.start(tree), emitter.scan.end(tree));
    }
}
