package dev.loadline.omp.compiler;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.StatementTree;
import dev.loadline.omp.compiler.Construct.Share;
import dev.loadline.omp.compiler.Directive.Expression;
import dev.loadline.omp.compiler.Edits.Code;
import java.util.List;
import java.util.Locale;
import javax.lang.model.element.Element;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/**
 * Writes work-sharing loops and sections. The program's own loop stays and runs over one piece; around
 * it comes a loop over this member's pieces:
 *
 * <pre>{@code
 * { final int a = FROM, b = TO; m.loopStatic(Loops.up(a, b, 1));
 *   while (m.chunk()) { final int e = m.to(a, 1, b); for (int i = m.from(a, 1); i < e; i++) BODY } }
 * }</pre>
 */
final class LoopEmitter {
    private static final String LOOPS = Emitter.RUNTIME + "Loops.";

    private final Emitter emitter;

    LoopEmitter(Emitter emitter) {
        this.emitter = emitter;
    }

    private String fresh(String name) {
        return emitter.sharing.fresh(name);
    }

    void loop(Construct construct, Code before, StringBuilder after) {
        before.add("{ " + emitter.comes(construct));
        emitter.copies(construct, before);
        if (construct.enhanced != null) {
            enhanced(construct, after);
        } else if (construct.loops.size() == 1) {
            counted(construct, after);
        } else {
            collapsed(construct, after);
        }
        end(construct, after);
    }

    private void end(Construct construct, StringBuilder after) {
        var last = new StringBuilder();
        construct.shares.forEach((variable, share) -> {
            if (share == Share.LASTPRIVATE || share == Share.FIRST_AND_LAST) {
                last.append(emitter.sharing.nameIn(variable, construct.parent)).append(" = ").append(construct.names.get(variable)).append("; ");
            }
        });
        if (last.length() > 0) {
            after.append("if (").append(construct.member).append(".last()) { ").append(last).append("} ");
        }
        emitter.combining.close(construct, after);
        after.append(Emitter.goes(construct)).append("}");
    }

    // ---- the three kinds of loop ----

    private void counted(Construct construct, StringBuilder after) {
        Loop loop = construct.loops.get(0);
        String m = construct.member;
        String from = fresh("from");
        String bound = fresh("to");
        String end = fresh("end");
        Code head = Code.of("{ ").add(range(loop, from, bound, fresh("step"), null));
        String step = stepName;
        head.add(deal(construct, LOOPS + loop.count() + "(" + from + ", " + bound + ", " + step + ")"));
        head.add(pieces(construct) + "(" + m + ".chunk()) { final " + loop.type() + " " + end + " = " + (loop.inclusive()
                ? m + ".through(" + from + ", " + step + ")"
                : m + ".to(" + from + ", " + step + ", " + bound + ")") + "; ");
        if (construct.directive.has("ordered")) {
            String last = fresh("last");
            head.add("final " + loop.type() + " " + last + " = " + m + ".through(" + from + ", " + step + "); ");
            construct.pieceEnds = emitter.sharing.nameIn(loop.variable(), construct) + " == " + last;
        }
        emitter.edits.insert(construct.statement.start(), head);
        replace(loop.from(), m + ".from(" + from + ", " + step + ")");
        replace(loop.bound(), end);
        after.append(" } } ");
    }

    private String stepName;

    /** Declarations of a loop's first value, bound and step. */
    private Code range(Loop loop, String from, String bound, String step, String type) {
        String t = type == null ? loop.type() : type;
        Code code = Code.of("final " + t + " " + from + " = ").add(moved(loop.from())).add(", " + bound + " = ").add(moved(loop.bound()));
        if (loop.step() == null) {
            stepName = loop.down() ? "-1" : "1";
        } else {
            stepName = step;
            code.add(", " + step + " = " + (loop.down() ? "-(" : "(")).add(moved(loop.step())).add(")");
        }
        return code.add("; ");
    }

    private void enhanced(Construct construct, StringBuilder after) {
        var loop = (EnhancedForLoopTree) construct.enhanced.getLeaf();
        String m = construct.member;
        String all = fresh("all");
        String index = fresh("i");
        String end = fresh("end");
        TypeMirror type = emitter.typeOf(new com.sun.source.util.TreePath(construct.enhanced, loop.getExpression()));
        boolean array = type.getKind() == TypeKind.ARRAY;
        Code head = Code.of("{ final var " + all + " = ").add(array ? "(" : Emitter.RUNTIME + "Run.list(").add(moved(loop.getExpression())).add("); ");
        head.add(deal(construct, all + (array ? ".length" : ".size()")));
        head.add("while (" + m + ".chunk()) { final int " + end + " = (int) " + m + ".end(); ");
        emitter.edits.insert(construct.statement.start(), head);
        construct.pieceEnds = index + " == " + end + " - 1";
        int open = emitter.text.bare.indexOf('(', emitter.scan.start(loop));
        int close = emitter.text.afterMatching(open);
        int variable = emitter.scan.start(loop.getVariable());
        int colon = emitter.text.bare.indexOf(':', emitter.text.findWord(loop.getVariable().getName().toString(), Math.max(variable, open)));
        Code header = Code.of("(int " + index + " = (int) " + m + ".begin(); " + index + " < " + end + "; " + index + "++) { ")
                .add(emitter.edits.moved(variable, colon))
                .add("= " + all + (array ? "[" + index + "]; " : ".get(" + index + "); "));
        emitter.edits.replace(open, close, header);
        after.append(" } } } ");
    }

    private void collapsed(Construct construct, StringBuilder after) {
        List<Loop> loops = construct.loops;
        int n = loops.size();
        String m = construct.member;
        Code head = Code.of("{ ");
        String[] from = new String[n];
        String[] step = new String[n];
        String[] trips = new String[n];
        String[] at = new String[n];
        var product = new StringBuilder();
        for (int i = 0; i < n; i++) {
            Loop loop = loops.get(i);
            from[i] = fresh("from");
            String bound = fresh("to");
            head.add(range(loop, from[i], bound, fresh("step"), null));
            step[i] = stepName;
            trips[i] = fresh("trips");
            at[i] = fresh("at");
            head.add("final long " + trips[i] + " = " + LOOPS + loop.count() + "(" + from[i] + ", " + bound + ", " + step[i] + "); ");
            product.insert(0, i == 0 ? "" : "Math.multiplyExact(").append(i == 0 ? trips[i] : ", " + trips[i] + ")");
        }
        head.add(deal(construct, product.toString()));
        String index = fresh("i");
        String end = fresh("end");
        head.add("while (" + m + ".chunk()) { final long " + end + " = " + m + ".end(); long " + index + " = " + m + ".begin()");
        String rest = m + ".begin()";
        for (int i = n - 1; i >= 0; i--) {
            head.add(", " + at[i] + " = " + rest + (i > 0 ? " % " + trips[i] : ""));
            rest = rest + " / " + trips[i];
        }
        head.add("; ");
        emitter.edits.insert(construct.statement.start(), head);
        construct.pieceEnds = index + " == " + end + " - 1";

        var update = new StringBuilder(index + "++, " + at[n - 1] + "++");
        for (int i = n - 1; i > 0; i--) {
            update.append(", ").append(at[i - 1]).append(" = ").append(at[i]).append(" == ").append(trips[i]).append(" ? ").append(at[i - 1]).append(" + 1 : ").append(at[i - 1]);
            update.append(", ").append(at[i]).append(" = ").append(at[i]).append(" == ").append(trips[i]).append(" ? 0 : ").append(at[i]);
        }
        var variables = new StringBuilder(" { ");
        for (int i = 0; i < n; i++) {
            Element variable = loops.get(i).variable();
            variables.append("final ").append(loops.get(i).type()).append(' ').append(variable.getSimpleName()).append(" = (")
                    .append(loops.get(i).type()).append(") (").append(from[i]).append(" + ").append(at[i]).append(" * ").append(step[i]).append("); ");
        }
        for (int i = 0; i < n; i++) {
            int start = emitter.scan.start(loops.get(i).tree());
            int close = Checks.headerEnd(emitter.text, start);
            Code header = new Code();
            if (i == 0) {
                header.add("for (; " + index + " < " + end + "; " + update + ") ");
            }
            if (i == n - 1) {
                header.add(variables.toString());
            }
            emitter.edits.replace(start, close, header);
        }
        construct.late.add(() -> emitter.edits.insert(emitter.scan.end(loops.get(n - 1).tree()), " }"));
        after.append(" } } ");
    }

    // ---- sections ----

    void sections(Construct construct, Code before, StringBuilder after) {
        before.add("{ " + emitter.comes(construct));
        emitter.copies(construct, before);
        var block = (BlockTree) construct.statement.tree();
        List<? extends StatementTree> all = block.getStatements();
        String index = fresh("i");
        String end = fresh("end");
        String m = construct.member;
        before.add(m + ".loop(" + kind("dynamic") + ", " + all.size() + ", 1); while (" + m + ".chunk()) for (long " + index + " = " + m + ".begin(), " + end
                + " = " + m + ".end(); " + index + " < " + end + "; " + index + "++) switch ((int) " + index + ") ");
        boolean firstMarked = construct.children.stream().anyMatch(c -> c.kind == Construct.Kind.SECTION && c.statement.tree() == all.get(0));
        if (!firstMarked) {
            emitter.edits.insert(construct.statement.start() + 1, " case 0: ");
            construct.late.add(() -> emitter.edits.insert(emitter.scan.end(all.get(0)), Jumps.neverEnds(all.get(0)) ? "" : " break;"));
        }
        after.append(' ');
        end(construct, after);
    }

    // ---- schedules ----

    private static String kind(String schedule) {
        return Emitter.RUNTIME + "Schedule.Kind." + schedule.toUpperCase(Locale.ROOT);
    }

    /** One block per member needs no loop around the loop, which the JIT would optimize less well. */
    private static String pieces(Construct construct) {
        return kind(construct).equals("static") && !construct.expressions.containsKey("schedule") && !construct.directive.has("ordered") ? "if " : "while ";
    }

    /** Whether the loop is the whole region, and no member need know how many there are: then others may join it. */
    private boolean joinable(Construct construct, String kind) {
        return construct.endsWithRegion() && !kind.equals("static") && !construct.directive.has("ordered") && !emitter.combining.reducesArrays(construct.parent);
    }

    private static String kind(Construct construct) {
        Expression schedule = construct.expression("schedule");
        return schedule == null ? "static" : schedule.text().split(",", 2)[0].strip();
    }

    /** The statement with which a member comes to the loop. */
    private Code deal(Construct construct, String trips) {
        String m = construct.member;
        String kind = kind(construct);
        Code chunk = construct.expressions.get("schedule");
        Code code = new Code();
        if (joinable(construct, kind)) {
            code.add(m + ".joinable(); ");
        }
        if (kind.equals("runtime")) {
            code.add(m + ".loopRuntime(" + trips + "); ");
        } else if (kind.equals("static") && chunk == null) {
            code.add(m + ".loopStatic(" + trips + "); ");
        } else {
            code.add(m + ".loop(" + kind(kind) + ", " + trips + ", ");
            if (chunk == null) {
                code.add("0");
            } else {
                code.add(LOOPS + "chunk(").add(chunk).add(")");
            }
            code.add("); ");
        }
        return construct.directive.has("ordered") ? code.add(m + ".ordered(); ") : code;
    }

    private Code moved(ExpressionTree tree) {
        return emitter.edits.moved(emitter.scan.start(tree), emitter.scan.end(tree));
    }

    private void replace(ExpressionTree tree, String with) {
        emitter.edits.replace(emitter.scan.start(tree), emitter.scan.end(tree), Code.of(with));
    }
}
