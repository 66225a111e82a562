package dev.loadline.omp.compiler;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;

/** One source file, translated: its new text, and the way back from there. */
final class Translation {
    private static final Pattern MADE_UP = Pattern.compile("\\b([\\p{L}_$][\\p{L}\\p{N}_]*?)\\$omp\\d*(\\.v\\b)?");

    private final JavaFileObject file;
    private final SourceText source;
    private final Edits edits;
    private final Problems problems;
    /** What javac shall compile; the source itself if there is no directive in it. */
    final String text;

    private Translation(JavaFileObject file, SourceText source, Edits edits, Problems problems, String text) {
        this.file = file;
        this.source = source;
        this.edits = edits;
        this.problems = problems;
        this.text = text;
    }

    List<Problem> problems() {
        return problems.sorted();
    }

    boolean failed() {
        return problems.hasErrors();
    }

    /** Translates a file that javac has attributed without errors. */
    static Translation of(CompilationUnitTree unit, JavacTask task) throws IOException {
        JavaFileObject file = unit.getSourceFile();
        var source = new SourceText(file.getCharContent(true).toString());
        var problems = new Problems(file, source);
        var edits = new Edits(source);
        for (int offset : source.lookalikes) {
            problems.warning(offset, "this looks like a directive, and is a comment; write //omp without a blank before 'omp'");
        }
        if (source.directives.isEmpty()) {
            return new Translation(file, source, edits, problems, source.text);
        }
        List<Directive> directives = new ArrayList<>();
        for (SourceText.RawDirective raw : source.directives) {
            Directive directive = DirectiveParser.parse(raw, problems);
            if (directive != null) {
                directives.add(directive);
            }
        }
        translate(unit, task, source, directives, problems, edits);
        return new Translation(file, source, edits, problems, problems.hasErrors() ? source.text : edits.apply());
    }

    private static void translate(CompilationUnitTree unit, JavacTask task, SourceText source, List<Directive> directives, Problems problems, Edits edits) {
        Trees trees = Trees.instance(task);
        var scan = new Scan(unit, trees);
        var reductions = new Reductions();
        directives.stream().filter(d -> d.kind() == DirectiveKind.DECLARE_REDUCTION).forEach(d -> {
            reductions.declare(d, problems);
            edits.replace(d.start(), d.end(), new Edits.Code());
        });
        List<Construct> constructs = Constructs.attach(directives, source, scan, problems);
        var sharing = new Sharing(scan, constructs, task.getElements(), problems);
        var checks = new Checks(constructs, scan, sharing, reductions, problems);
        sharing.readClauses();
        checks.shapes();
        checks.meanings();
        if (problems.hasErrors()) {
            return;
        }
        sharing.findWrites();
        sharing.nameUses(edits);
        String path = unit.getSourceFile().getName();
        String name = path.substring(path.lastIndexOf('/') + 1);
        try {
            new Emitter(source, scan, sharing, reductions, edits, trees, task.getTypes(), task.getElements(), name).emit(constructs);
        } catch (Emitter.Unsupported e) {
            problems.error(e.offset, e.getMessage());
        }
    }

    /** What javac said of the new text, said of the source. */
    Diagnostic<? extends JavaFileObject> back(Diagnostic<? extends JavaFileObject> diagnostic) {
        if (diagnostic.getPosition() == Diagnostic.NOPOS) {
            return diagnostic;
        }
        String said = diagnostic.getMessage(Locale.getDefault());
        String message = MADE_UP.matcher(said).replaceAll("$1");
        if (!said.equals(message) && said.contains("initialized")) {
            message += "; a private copy begins without a value, use firstprivate for one that has it";
        }
        return new Problem(file, source, diagnostic.getKind(), edits.origin((int) diagnostic.getPosition()), message);
    }
}
