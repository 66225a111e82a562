package dev.loadline.omp.compiler;

import java.util.Locale;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;

/** A diagnostic at an offset of a source file, which reads as javac's do. */
final class Problem implements Diagnostic<JavaFileObject> {
    private final JavaFileObject file;
    private final SourceText text;
    private final Kind kind;
    private final int offset;
    private final String message;

    Problem(JavaFileObject file, SourceText text, Kind kind, int offset, String message) {
        this.file = file;
        this.text = text;
        this.kind = kind;
        this.offset = offset;
        this.message = message;
    }

    @Override
    public Kind getKind() {
        return kind;
    }

    @Override
    public JavaFileObject getSource() {
        return file;
    }

    @Override
    public long getPosition() {
        return offset;
    }

    @Override
    public long getStartPosition() {
        return offset;
    }

    @Override
    public long getEndPosition() {
        return offset;
    }

    @Override
    public long getLineNumber() {
        return text.line(offset);
    }

    @Override
    public long getColumnNumber() {
        return text.column(offset);
    }

    @Override
    public String getCode() {
        return "omp";
    }

    @Override
    public String getMessage(Locale locale) {
        return message;
    }

    /** File, line and message, the line itself, and a caret under the place. */
    @Override
    public String toString() {
        String label = kind == Kind.ERROR ? "error: " : "warning: ";
        String line = text.lineText(offset);
        var caret = new StringBuilder();
        for (int i = 0; i < Math.min(line.length(), text.column(offset) - 1); i++) {
            caret.append(line.charAt(i) == '\t' ? '\t' : ' ');
        }
        return file.getName() + ":" + getLineNumber() + ": " + label + message + "\n" + line + "\n" + caret + "^";
    }
}
