package dev.loadline.omp.compiler;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;

/** The command {@code loadline-omp}: javac for sources with OpenMP directives. */
public final class Main {
    private static final String HELP = """
            loadline-omp: compiles Java with OpenMP directives

              loadline-omp [javac's options] File.java ...
              loadline-omp --emit DIR [javac's options] File.java ...    writes Java without directives

              --sources DIR    all .java files below a directory
              @file            more arguments, from a file
              -h, --help       this text

            examples
              loadline-omp -d classes Solver.java && java -cp classes:loadline-omp.jar Solver
              loadline-omp --emit generated -cp lib.jar src/*.java
              OMP_NUM_THREADS=4 OMP_SCHEDULE=dynamic,16 java -cp classes:loadline-omp.jar Solver
            """;

    private Main() {}

    /**
     * Runs the command and ends the JVM: 0 done, 1 errors in the sources, 2 wrong usage.
     *
     * @param arguments see {@code --help}
     */
    public static void main(String[] arguments) {
        System.exit(run(List.of(arguments)));
    }

    /** The same, without ending the JVM. */
    static int run(List<String> arguments) {
        List<Path> files = new ArrayList<>();
        List<String> options = new ArrayList<>();
        Path emit = null;
        try {
            List<String> all = expand(arguments);
            for (int i = 0; i < all.size(); i++) {
                String argument = all.get(i);
                if (argument.equals("-h") || argument.equals("--help")) {
                    System.out.print(HELP);
                    return 0;
                } else if (argument.equals("--emit")) {
                    if (i + 1 == all.size() || all.get(i + 1).endsWith(".java")) {
                        return wrong("--emit needs a directory");
                    }
                    emit = Path.of(all.get(++i));
                } else if (argument.equals("--sources")) {
                    if (i + 1 == all.size() || !Files.isDirectory(Path.of(all.get(i + 1)))) {
                        return wrong("--sources needs a directory that exists");
                    }
                    files.addAll(sourcesBelow(Path.of(all.get(++i))));
                } else if (argument.endsWith(".java")) {
                    files.add(Path.of(argument));
                } else {
                    options.add(argument);
                }
            }
            if (files.isEmpty()) {
                return wrong("no source files");
            }
            int[] counts = new int[2];
            var compiler = new OmpCompiler(diagnostic -> {
                System.err.println(diagnostic);
                counts[0] += diagnostic.getKind() == Diagnostic.Kind.ERROR ? 1 : 0;
                counts[1] += diagnostic.getKind().name().endsWith("WARNING") ? 1 : 0;
            });
            boolean done = emit == null ? compiler.compile(files, options) : compiler.emit(files, options, emit);
            count(counts[0], "error");
            count(counts[1], "warning");
            return done ? 0 : 1;
        } catch (IllegalArgumentException e) {
            return wrong(e.getMessage().replaceFirst("^error: ", ""));
        } catch (IOException e) {
            System.err.println("error: " + e.getClass().getSimpleName() + ": " + e.getMessage());
            return 1;
        }
    }

    private static void count(int n, String what) {
        if (n > 0) {
            System.err.println(n + " " + what + (n == 1 ? "" : "s"));
        }
    }

    private static int wrong(String message) {
        System.err.println("error: " + message + "\nloadline-omp --help says how it is used");
        return 2;
    }

    private static List<Path> sourcesBelow(Path directory) throws IOException {
        try (var below = Files.walk(directory)) {
            return below.filter(file -> file.toString().endsWith(".java")).sorted().toList();
        }
    }

    private static List<String> expand(List<String> arguments) throws IOException {
        List<String> all = new ArrayList<>();
        for (String argument : arguments) {
            if (argument.startsWith("@") && argument.length() > 1) {
                Matcher words = Pattern.compile("\"([^\"]*)\"|(\\S+)").matcher(Files.readString(Path.of(argument.substring(1))));
                while (words.find()) {
                    all.add(words.group(1) != null ? words.group(1) : words.group(2));
                }
            } else {
                all.add(argument);
            }
        }
        return all;
    }
}
