package dev.loadline.omp.compiler;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.Trees;
import dev.loadline.omp.compiler.Construct.Share;
import dev.loadline.omp.compiler.Edits.Code;
import java.util.List;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/**
 * Writes constructs as Java: what comes before a statement goes where its directive stood, what comes
 * after it right behind its last character. Loops are in {@link LoopEmitter}.
 */
final class Emitter {
    static final String RUNTIME = "dev.loadline.omp.runtime.";
    private static final String RUN = RUNTIME + "Run.";

    final SourceText text;
    final Scan scan;
    final Sharing sharing;
    final Edits edits;
    private final Reductions reductions;
    private final Trees trees;
    private final Types types;
    private final Elements elements;
    private final String fileName;
    private final LoopEmitter loops = new LoopEmitter(this);
    final CombiningEmitter combining;

    Emitter(SourceText text, Scan scan, Sharing sharing, Reductions reductions, Edits edits, Trees trees, Types types, Elements elements, String fileName) {
        this.text = text;
        this.scan = scan;
        this.sharing = sharing;
        this.reductions = reductions;
        this.edits = edits;
        this.trees = trees;
        this.types = types;
        this.elements = elements;
        this.fileName = fileName;
        this.combining = new CombiningEmitter(this, reductions);
    }

    /** Writes all constructs. */
    void emit(List<Construct> constructs) {
        sharing.boxedForGood.forEach(this::boxForGood);
        constructs.stream().filter(c -> c.parent == null).forEach(this::emit);
    }

    private void emit(Construct construct) {
        Code before = new Code();
        var after = new StringBuilder();
        switch (construct.kind) {
            case PARALLEL -> parallel(construct, before, after);
            case FOR -> loops.loop(construct, before, after);
            case SECTIONS -> loops.sections(construct, before, after);
            case SECTION -> section(construct, before, after);
            case SINGLE -> single(construct, before, after);
            case MASTER -> {
                before.add("{ " + enter(construct) + "if (" + construct.member + ".isMaster()) { ");
                after.append(" } }");
            }
            case CRITICAL -> {
                var name = construct.directive.argument();
                passMember(construct);
                before.add("{ synchronized (" + RUNTIME + (name == null ? "Locks.CRITICAL" : "Locks.critical(\"" + name.text() + "\")") + ") { ");
                after.append(" } }");
            }
            case ORDERED -> ordered(construct, before, after);
            case ATOMIC -> atomic(construct, before, after);
            case TASK -> task(construct, before, after);
            case SIMD -> passMember(construct);
            case BARRIER -> before.add("{ " + comes(construct) + construct.member + ".barrier(); " + goes(construct) + "}");
            case TASKWAIT -> before.add("{ " + enter(construct) + construct.member + ".taskwait(); }");
            case FLUSH -> before.add("java.lang.invoke.VarHandle.fullFence();");
        }
        if (construct.endsWithRegion()) {
            edits.insert(construct.directive.end(), before); // the comment itself made room for the region
        } else {
            edits.replace(construct.directive.start(), construct.directive.end(), before);
        }
        construct.children.forEach(this::emit);
        construct.late.forEach(Runnable::run);
        if (construct.statement != null) {
            edits.insert(construct.statement.end(), after.toString());
        }
    }

    // ---- members ----

    /** Gives the construct the member that runs it: the surrounding construct's, or a look-up. */
    String enter(Construct construct) {
        passMember(construct);
        if (construct.member != null) {
            return "";
        }
        construct.member = sharing.fresh("member");
        return "final " + RUNTIME + "Member " + construct.member + " = " + RUN + "member(); ";
    }

    /** The same, and tells a recording which construct begins; that of a region's own loop is the region. */
    String comes(Construct construct) {
        return enter(construct) + (construct.endsWithRegion() ? "" : construct.member + ".comes(\"" + site(construct) + "\"); ");
    }

    /** Tells a recording that the construct has ended. */
    static String goes(Construct construct) {
        return construct.endsWithRegion() ? "" : construct.member + ".goes(); ";
    }

    private void passMember(Construct construct) {
        Construct parent = construct.parent;
        if (parent == null || parent.member == null) {
            return;
        }
        boolean same = parent.directive == construct.directive
                || scan.sameMethod(construct.directive.start(), parent.statement.start() - 1, parent.statement.end() + 1);
        if (same) {
            construct.member = parent.member;
        }
    }

    // ---- regions and tasks ----

    private void parallel(Construct construct, Code before, StringBuilder after) {
        boolean boxes = surroundings(construct, before);
        String team = sharing.fresh("team");
        if (boxes) {
            before.add("try { ");
        }
        if (!combining.oneByOne(construct).isEmpty()) {
            before.add("final " + RUNTIME + "Team " + team + " = ");
        }
        construct.member = sharing.fresh("member");
        before.add(RUN + "parallel(\"" + site(construct) + "\", ")
                .add(construct.expressions.getOrDefault("num_threads", Code.of("0")))
                .add(", ")
                .add(construct.expressions.getOrDefault("if", Code.of("true")))
                .add(", " + construct.member + " -> { ");
        copies(construct, before);
        boolean ends = !Jumps.neverEnds(construct.statement.tree());
        if (ends) {
            after.append(' ').append(combining.offer(construct));
        }
        after.append(" });").append(mayThrow(construct));
        combining.combine(construct, team, after);
        finish(construct, boxes, after);
        if (!ends) {
            after.append("throw ").append(RUN).append("unreachable(); ");
        }
        after.append("}");
    }

    private void task(Construct construct, Code before, StringBuilder after) {
        Code start = new Code();
        boolean boxes = surroundings(construct, start);
        if (boxes) {
            throw new IllegalStateException("a task's variables are boxed from their declaration on");
        }
        before.add("{ ").add(enter(construct));
        String outer = construct.member;
        before.add(Code.of(start.toString().substring(2))); // its own "{ " is there already
        construct.member = sharing.fresh("member");
        before.add(outer + ".task(").add(construct.expressions.getOrDefault("if", Code.of("true"))).add(", " + construct.member + " -> { ");
        copies(construct, before);
        after.append(" });").append(mayThrow(construct)).append("}");
    }

    /** Opens a block with the boxes and snapshots that a lambda needs; whether there are boxes. */
    private boolean surroundings(Construct construct, Code before) {
        before.add("{ ");
        for (Element variable : construct.boxed) {
            String name = construct.names.get(variable).replaceFirst("\\.v$", "");
            String outer = sharing.nameIn(variable, construct.parent);
            ensureValue(variable, outer);
            String box = TypeText.box(variable.asType());
            before.add(box == null
                    ? "final var " + name + " = " + RUNTIME + "Ref.of(" + outer + "); "
                    : "final " + box + " " + name + " = new " + box.replaceFirst("<.*", "<>") + "(" + outer + "); ");
        }
        for (Element variable : construct.snapshots) {
            before.add("final " + typeOr(variable, "var") + " " + construct.names.get(variable) + " = " + sharing.nameIn(variable, construct.parent) + "; ");
        }
        construct.sources.forEach((variable, name) ->
            before.add("final " + typeOr(variable, "var") + " " + name + " = " + sharing.nameIn(variable, construct.parent) + "; "));
        return !construct.boxed.isEmpty();
    }

    /** A box is filled with the variable's value: let it have one, if its declaration gives none. */
    private void ensureValue(Element variable, String name) {
        Scan.Declaration declaration = scan.declarations.get(variable);
        if (declaration != null && !declaration.initialized() && name.equals(variable.getSimpleName().toString())) {
            int type = scan.end(declaration.tree().getType());
            int at = text.findWord(name, Math.max(type, declaration.start())) + name.length();
            while (text.bare.substring(at).stripLeading().startsWith("[")) { // int a[];
                at = text.afterMatching(text.bare.indexOf('[', at));
            }
            edits.insertOnce(at, " = " + TypeText.zero(variable.asType()));
        }
    }

    private void finish(Construct construct, boolean boxes, StringBuilder after) {
        if (boxes) {
            after.append("} finally { ");
            for (Element variable : construct.boxed) {
                after.append(sharing.nameIn(variable, construct.parent)).append(" = ").append(construct.names.get(variable)).append("; ");
            }
            after.append("} ");
        }
    }

    private String mayThrow(Construct construct) {
        var calls = new StringBuilder(" ");
        for (TypeMirror type : Thrown.by(construct.statement.path(), trees, types, elements)) {
            String name = TypeText.of(type);
            if (name != null) {
                calls.append(RUN.substring(0, RUN.length() - 1)).append(".<").append(name).append(">mayThrow(); ");
            }
        }
        return calls.toString();
    }

    // ---- private copies ----

    /** Declares the private copies of a construct. */
    void copies(Construct construct, Code before) {
        construct.shares.forEach((variable, share) -> {
            if (share == Share.SHARED) {
                return;
            }
            TypeMirror type = variable.asType();
            String name = construct.names.get(variable);
            String source = construct.sources.getOrDefault(variable, sharing.nameIn(variable, construct.parent));
            boolean array = type.getKind() == TypeKind.ARRAY;
            before.add(switch (share) {
                case PRIVATE -> typeOr(variable, null) == null
                        ? "var " + name + " = " + source + "; "
                        : typeOr(variable, null) + " " + name + "; ";
                case LASTPRIVATE -> typeOr(variable, "var") + " " + name + " = " + (typeOr(variable, null) == null ? source : TypeText.zero(type)) + "; ";
                case FIRSTPRIVATE, FIRST_AND_LAST -> typeOr(variable, "var") + " " + name + " = " + source
                        + (array ? " == null ? null : " + source + ".clone()" : "") + "; ";
                case REDUCTION -> {
                    String operator = construct.operators.get(variable);
                    yield typeOr(variable, "var") + " " + name + " = " + (reductions.isElementwise(operator, type)
                            ? RUNTIME + "ArrayReductions.identity(" + source + ", " + Reductions.arrayOperator(operator) + ")"
                            : reductions.identity(operator, type)) + "; ";
                }
                case SHARED -> throw new IllegalStateException();
            });
        });
    }

    static String typeOr(Element variable, String otherwise) {
        String type = TypeText.of(variable.asType());
        return type == null ? otherwise : type;
    }

    // ---- the small ones ----

    private void section(Construct construct, Code before, StringBuilder after) {
        passMember(construct);
        var block = (BlockTree) construct.parent.statement.tree();
        int number = block.getStatements().indexOf(construct.statement.tree());
        before.add("case " + number + ": ");
        after.append(Jumps.neverEnds(construct.statement.tree()) ? "" : " break;");
    }

    private void single(Construct construct, Code before, StringBuilder after) {
        before.add("{ " + comes(construct) + "if (" + construct.member + ".single()) { ");
        copies(construct, before);
        String member = construct.member;
        after.append(' ');
        if (construct.copied.isEmpty()) {
            after.append("} ").append(construct.directive.has("nowait") ? "" : member + ".barrier(); ").append(goes(construct)).append("}");
            return;
        }
        var receive = new StringBuilder();
        int k = 0;
        for (Element variable : construct.copied) {
            String name = sharing.nameIn(variable, construct);
            after.append(member).append(".publish(").append(k).append(", ").append(name).append("); ");
            receive.append(name).append(" = ").append(member).append(".receive(").append(k++).append("); ");
        }
        after.append(member).append(".barrier(); } else { ").append(member).append(".barrier(); ").append(receive).append("} ")
                .append(member).append(".barrier(); ").append(goes(construct)).append("}");
    }

    private void ordered(Construct construct, Code before, StringBuilder after) {
        before.add("{ " + enter(construct) + construct.member + ".orderedBegin(); ");
        boolean inLoop = construct.parent != null && construct.parent.member != null && construct.parent.member.equals(construct.member);
        String pieceEnds = inLoop ? construct.parent.pieceEnds : "false";
        after.append(Jumps.neverEnds(construct.statement.tree()) ? "" : " " + construct.member + ".orderedEnd(" + pieceEnds + ");").append(" }");
    }

    private void atomic(Construct construct, Code before, StringBuilder after) {
        passMember(construct);
        new AtomicEmitter(this, trees).emit(construct, before, after);
    }

    TypeMirror typeOf(TreePath path) {
        return trees.getTypeMirror(path);
    }

    // ---- names and places ----

    /** Directive, method and line, as traces show them. */
    private String site(Construct construct) {
        String method = "";
        for (TreePath path = construct.statement != null ? construct.statement.path() : scan.around(construct.directive.start()); path != null; path = path.getParentPath()) {
            if (path.getLeaf() instanceof MethodTree tree && method.isEmpty()) {
                method = tree.getName().toString().replace("<init>", "new");
            } else if (path.getLeaf() instanceof ClassTree tree && !tree.getSimpleName().isEmpty()) {
                method = tree.getSimpleName() + "." + method;
                break;
            }
        }
        return "omp " + construct.name() + " " + method + " (" + fileName + ":" + text.line(construct.directive.start()) + ")";
    }

    private void boxForGood(Element variable) {
        Scan.Declaration declaration = scan.declarations.get(variable);
        String name = variable.getSimpleName().toString();
        String box = TypeText.box(variable.asType());
        TreePath parent = declaration.path().getParentPath();
        int at;
        if (parent.getLeaf() instanceof MethodTree method && method.getBody() != null) {
            at = scan.start(method.getBody()) + 1;
        } else if (variable.getKind() == ElementKind.LOCAL_VARIABLE && parent.getLeaf() instanceof BlockTree) {
            at = text.afterSemicolon(text.findWord(name, declaration.start()));
        } else {
            throw new Unsupported(declaration.start(), "a task can share only variables that a block or a method declares; copy '" + name + "' to one");
        }
        edits.insert(at, " final " + box + " " + name + "$omp = new " + box.replaceFirst("<.*", "<>") + "(" + (declaration.initialized() ? name : "") + ");");
    }

    /** What the emitter finds that it cannot write. */
    static final class Unsupported extends RuntimeException {
        private static final long serialVersionUID = 1;
        final int offset;

        Unsupported(int offset, String message) {
            super(message, null, false, false);
            this.offset = offset;
        }
    }
}
