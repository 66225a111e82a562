package dev.loadline.omp.compiler;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticListener;
import javax.tools.ForwardingJavaFileObject;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles Java sources with OpenMP directives, as {@link JavaCompiler} does without. */
public final class OmpCompiler {
    private final JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    private final DiagnosticListener<? super JavaFileObject> listener;

    /**
     * A compiler.
     *
     * @param listener gets what is wrong with the sources: javac's own diagnostics, and of the same
     *     kind those for directives
     */
    public OmpCompiler(DiagnosticListener<? super JavaFileObject> listener) {
        if (javac == null) {
            throw new IllegalStateException("this Java has no compiler: use a JDK, not a JRE");
        }
        this.listener = listener;
    }

    /**
     * Compiles files to class files.
     *
     * @param files the sources
     * @param options javac's options; the class path need not have this library, which is added
     * @return whether all went well
     * @throws IOException if a file cannot be read or written
     * @throws IllegalArgumentException if javac does not know an option
     */
    public boolean compile(List<Path> files, List<String> options) throws IOException {
        try (StandardJavaFileManager manager = manager(options)) {
            return compile(manager, manager.getJavaFileObjectsFromPaths(files), options);
        }
    }

    /**
     * Compiles sources to wherever a file manager keeps classes.
     *
     * @param manager finds classes and takes the output
     * @param sources what to compile
     * @param options javac's options
     * @return whether all went well
     * @throws IOException if a source cannot be read
     */
    public boolean compile(JavaFileManager manager, Iterable<? extends JavaFileObject> sources, List<String> options) throws IOException {
        Map<JavaFileObject, Translation> translations = translate(manager, sources, options);
        if (translations == null) {
            return false;
        }
        Map<JavaFileObject, Translation> origins = new IdentityHashMap<>();
        List<JavaFileObject> rewritten = new ArrayList<>();
        translations.forEach((file, translation) -> {
            JavaFileObject copy = new Rewritten(file, translation.text);
            origins.put(copy, translation);
            rewritten.add(copy);
        });
        DiagnosticListener<JavaFileObject> back = diagnostic -> {
            JavaFileObject source = diagnostic.getSource();
            Translation translation = origins.get(source);
            if (translation == null && source != null) { // javac hands out wrappers
                translation = origins.entrySet().stream().filter(e -> e.getKey().toUri().equals(source.toUri())).map(Map.Entry::getValue).findFirst().orElse(null);
            }
            listener.report(translation == null ? diagnostic : translation.back(diagnostic));
        };
        return javac.getTask(null, manager, back, withRuntime(options), null, rewritten).call();
    }

    /**
     * Translates files to Java without directives.
     *
     * @param files the sources
     * @param options javac's options
     * @param directory where the output goes, in folders by package
     * @return whether all went well
     * @throws IOException if a file cannot be read or written
     */
    public boolean emit(List<Path> files, List<String> options, Path directory) throws IOException {
        try (StandardJavaFileManager manager = manager(options)) {
            Map<JavaFileObject, Translation> translations = translate(manager, manager.getJavaFileObjectsFromPaths(files), options);
            if (translations == null) {
                return false;
            }
            for (var entry : translations.entrySet()) {
                Path file = directory.resolve(packages.get(entry.getKey()).replace('.', '/')).resolve(Path.of(entry.getKey().getName()).getFileName());
                Files.createDirectories(file.getParent());
                Files.writeString(file, entry.getValue().text, charset(options));
            }
            return true;
        }
    }

    private final Map<JavaFileObject, String> packages = new IdentityHashMap<>();

    /** The translations, in the order of the sources; null if something is wrong, which was then reported. */
    private Map<JavaFileObject, Translation> translate(JavaFileManager manager, Iterable<? extends JavaFileObject> sources, List<String> options) throws IOException {
        List<Diagnostic<? extends JavaFileObject>> said = new ArrayList<>();
        List<String> first = withRuntime(options).stream().filter(option -> !option.equals("-Werror")).toList();
        var task = (JavacTask) javac.getTask(null, manager, said::add, first, null, sources);
        Iterable<? extends CompilationUnitTree> units = task.parse();
        task.analyze();
        if (said.stream().anyMatch(d -> d.getKind() == Diagnostic.Kind.ERROR)) {
            said.forEach(listener::report);
            return null;
        }
        Map<JavaFileObject, Translation> translations = new LinkedHashMap<>();
        boolean failed = false;
        for (CompilationUnitTree unit : units) {
            Translation translation = Translation.of(unit, task);
            translation.problems().forEach(listener::report);
            failed |= translation.failed();
            translations.put(unit.getSourceFile(), translation);
            packages.put(unit.getSourceFile(), unit.getPackageName() == null ? "" : unit.getPackageName().toString());
        }
        return failed ? null : translations;
    }

    private StandardJavaFileManager manager(List<String> options) {
        return javac.getStandardFileManager(listener, null, charset(options));
    }

    private static Charset charset(List<String> options) {
        int at = options.indexOf("-encoding");
        return at >= 0 && at + 1 < options.size() ? Charset.forName(options.get(at + 1)) : StandardCharsets.UTF_8;
    }

    /** The options with this library on the class path. */
    private static List<String> withRuntime(List<String> options) {
        Path own;
        try {
            own = Path.of(OmpCompiler.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
        List<String> result = new ArrayList<>(options);
        for (int i = 0; i < options.size(); i++) {
            String option = options.get(i);
            if (List.of("-cp", "-classpath", "--class-path").contains(option) && i + 1 < options.size()) {
                result.set(i + 1, options.get(i + 1) + File.pathSeparator + own);
                return result;
            }
            if (option.startsWith("--class-path=")) {
                result.set(i, option + File.pathSeparator + own);
                return result;
            }
        }
        String environment = System.getenv("CLASSPATH");
        result.add("-cp");
        result.add((environment == null ? "." : environment) + File.pathSeparator + own);
        return result;
    }

    /** A source with another text. */
    private static final class Rewritten extends ForwardingJavaFileObject<JavaFileObject> {
        private final String text;

        Rewritten(JavaFileObject file, String text) {
            super(file);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
