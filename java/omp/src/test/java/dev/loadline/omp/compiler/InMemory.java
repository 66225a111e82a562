package dev.loadline.omp.compiler;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles sources given as text, with directives or ignoring them, and loads the classes. */
final class InMemory {
    final List<Diagnostic<? extends JavaFileObject>> said = new ArrayList<>();
    private final Map<String, ByteArrayOutputStream> classes = new HashMap<>();

    /** A source named after its class. */
    static JavaFileObject source(String className, String text) {
        return new SimpleJavaFileObject(URI.create("string:///" + className + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    /** Compiles; null if that failed. */
    ClassLoader compile(List<JavaFileObject> sources, boolean directives) throws IOException {
        var javac = ToolProvider.getSystemJavaCompiler();
        List<String> options = List.of("-cp", System.getProperty("java.class.path"), "-proc:none");
        try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            JavaFileManager manager = new ForwardingJavaFileManager<>(files) {
                @Override
                public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
                    var bytes = new ByteArrayOutputStream();
                    classes.put(name, bytes);
                    return new SimpleJavaFileObject(URI.create("mem:///" + name + ".class"), kind) {
                        @Override
                        public OutputStream openOutputStream() {
                            return bytes;
                        }
                    };
                }
            };
            boolean done = directives
                    ? new OmpCompiler(said::add).compile(manager, sources, options)
                    : javac.getTask(null, manager, said::add, options, null, sources).call();
            return done ? loader() : null;
        }
    }

    private ClassLoader loader() {
        return new ClassLoader(InMemory.class.getClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                ByteArrayOutputStream bytes = classes.get(name);
                if (bytes == null) {
                    throw new ClassNotFoundException(name);
                }
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            }
        };
    }

    /** Compiles one class {@code T} with directives and returns what its {@code static String run()} does. */
    static String run(String body) throws Exception {
        return call("import java.util.*; import dev.loadline.omp.*; public class T {\n" + body + "\n}");
    }

    private static String call(String text) throws Exception {
        var compiler = new InMemory();
        ClassLoader loader = compiler.compile(List.of(source("T", text)), true);
        if (loader == null) {
            throw new AssertionError(compiler.said.toString());
        }
        var method = loader.loadClass("T").getDeclaredMethod("run");
        method.setAccessible(true);
        return (String) method.invoke(null);
    }

    /** The diagnostics for a body of a class {@code T}, which must not compile. */
    static List<Diagnostic<? extends JavaFileObject>> refuse(String text) throws IOException {
        var compiler = new InMemory();
        if (compiler.compile(List.of(source("T", text)), true) != null) {
            throw new AssertionError("compiled:\n" + text);
        }
        return compiler.said;
    }
}
