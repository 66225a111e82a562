package dev.loadline.omp.compiler;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;

/** What is wrong with the directives of one file. */
final class Problems {
    private final JavaFileObject file;
    private final SourceText text;
    private final List<Problem> found = new ArrayList<>();

    Problems(JavaFileObject file, SourceText text) {
        this.file = file;
        this.text = text;
    }

    void error(int offset, String message) {
        add(Diagnostic.Kind.ERROR, offset, message);
    }

    void warning(int offset, String message) {
        add(Diagnostic.Kind.WARNING, offset, message);
    }

    private void add(Diagnostic.Kind kind, int offset, String message) {
        boolean known = found.stream().anyMatch(p -> p.getPosition() == offset && p.getMessage(null).equals(message));
        if (!known) {
            found.add(new Problem(file, text, kind, offset, message));
        }
    }

    boolean hasErrors() {
        return found.stream().anyMatch(p -> p.getKind() == Diagnostic.Kind.ERROR);
    }

    /** In the order of their places. */
    List<Problem> sorted() {
        return found.stream().sorted(Comparator.comparingLong(Problem::getPosition)).toList();
    }
}
