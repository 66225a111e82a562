package dev.loadline.omp.compiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lines keep their numbers, in the text and in stack traces. */
class LinesTest {
    @TempDir
    Path directory;

    /** Each line that can throw says so in its comment. */
    private static final String PROGRAM = """
            import java.util.*;
            public class Trace {
                static void at(int wanted, int line) { if (wanted == line) throw new IllegalStateException("" + line); }
                static void run(int w) {
                    int n = 2, sum = 0;
                    /*omp parallel for
                     *    reduction(+ : sum)
                     *    schedule(dynamic) */
                    for (int i = 0;
                         i < n;
                         i++) {
                        at(w, 12);
                        sum += i;
                        at(w, 14);
                    }
                    at(w, 16);
                    //omp parallel \\
                    //omp    num_threads(2)
                    {
                        at(w, 20);
                        //omp for collapse(2)
                        for (int i = 0; i < 2; i++)

                            for (int j = 0; j < 2; j++) {
                                at(w, 25);
                            }
                        //omp sections
                        {
                            at(w, 29);
                            //omp section
                            at(w, 31);
                        }
                        //omp single
                        at(w, 34);
                        //omp task
                        { at(w, 36); }
                        //omp taskwait
                        for (String s : List.of("a")) { at(w, 38); }
                        //omp for
                        for (String s :
                             List.of("a")) {
                            at(w, 42);
                        }
                    }
                    at(w, 45);
                }
            }
            """;

    @Test
    void an_exception_from_any_line_names_that_line() throws Exception {
        ClassLoader loader = new InMemory().compile(List.of(InMemory.source("Trace", PROGRAM)), true);
        var run = loader.loadClass("Trace").getDeclaredMethod("run", int.class);
        run.setAccessible(true);
        var places = Pattern.compile("at\\(w, (\\d+)\\)").matcher(PROGRAM);
        int count = 0;
        while (places.find()) {
            int line = Integer.parseInt(places.group(1));
            try {
                run.invoke(null, line);
                throw new AssertionError("nothing thrown at line " + line);
            } catch (java.lang.reflect.InvocationTargetException e) {
                StackTraceElement[] trace = e.getCause().getStackTrace();
                assertEquals("at", trace[0].getMethodName());
                assertEquals(line, trace[1].getLineNumber(), () -> List.of(trace).toString());
                assertEquals("Trace.java", trace[1].getFileName());
                count++;
            }
        }
        assertEquals(12, count);
    }

    @Test
    void the_output_has_the_lines_of_the_input_and_is_the_same_each_time() throws Exception {
        String first = emit(PROGRAM);
        assertEquals(first, emit(PROGRAM));
        String[] before = PROGRAM.split("\n", -1);
        String[] after = first.split("\n", -1);
        assertEquals(before.length, after.length);
        for (int i = 0; i < before.length; i++) {
            for (String word : List.of("at(w, ", "class Trace", "static void", "int n = 2")) {
                assertEquals(before[i].contains(word), after[i].contains(word), "line " + (i + 1));
            }
        }
    }

    @Test
    void a_program_becomes_exactly_this() throws Exception {
        String text = "class T {\n    static int f(int n) {\n        int s = 0;\n        //omp parallel for reduction(+ : s) schedule(dynamic, n / 4)\n"
                + "        for (int i = 0; i < n; i++) {\n            s += i;\n        }\n        return s;\n    }\n}\n";
        String run = "dev.loadline.omp.runtime.";
        String expected = "class T {\n    static int f(int n) {\n        int s = 0;\n        { final " + run + "Team team$omp2 = " + run
                + "Run.parallel(\"omp parallel for T.f (T.java:4)\", 0, true, member$omp3 -> { int s$omp1 = 0; { \n"
                + "        { final int from$omp5 = 0, to$omp6 = n; member$omp3.joinable(); member$omp3.loop(" + run + "Schedule.Kind.DYNAMIC, " + run
                + "Loops.up(from$omp5, to$omp6, 1), " + run + "Loops.chunk(n / 4)); while (member$omp3.chunk()) { final int end$omp7 = member$omp3.to(from$omp5, 1, to$omp6); "
                + "for (int i = member$omp3.from(from$omp5, 1); i < end$omp7; i++) {\n            s$omp1 += i;\n"
                + "        } } } } member$omp3.put(0, (long) s$omp1);  }); for (int i$omp4 = 0; i$omp4 < team$omp2.size(); i$omp4++) "
                + "{ s = (s + ((int) team$omp2.getLong(i$omp4, 0))); } }\n        return s;\n    }\n}\n";
        assertEquals(expected, emit(text.replace("class T ", "class T ")));
    }

    @Test
    void a_file_without_directives_is_not_touched() throws Exception {
        String text = "class T {\r\n\tString s = \"//omp parallel\"; // not //omp either\r\n\tString t = \"\"\"\r\n  //omp parallel\r\n\"\"\";\r\n}\r\n";
        assertEquals(text, emit(text));
    }

    @Test
    void the_command_compiles_and_says_what_is_wrong_with_its_usage() throws Exception {
        Path file = Files.writeString(directory.resolve("M.java"), "public class M { void f() {\n//omp parallel\n{ }\n} }");
        assertEquals(0, Main.run(List.of("-d", directory.toString(), file.toString())));
        assertTrue(Files.exists(directory.resolve("M.class")));
        assertEquals(2, Main.run(List.of()));
        assertEquals(2, Main.run(List.of("--emit", file.toString())));
        assertEquals(0, Main.run(List.of("-d", directory.toString(), "--sources", directory.toString())));
        assertEquals(2, Main.run(List.of("--sources", directory.resolve("absent").toString())));
        assertEquals(2, Main.run(List.of("-nonsense", file.toString())));
        assertEquals(1, Main.run(List.of("@" + directory.resolve("absent"))));
    }

    private String emit(String text) {
        try {
            String name = text.contains("class Trace") ? "Trace" : "T";
            Path file = Files.writeString(directory.resolve(name + ".java"), text);
            Path out = directory.resolve("out");
            var said = new java.util.ArrayList<Object>();
            assertTrue(new OmpCompiler(said::add).emit(List.of(file), List.of(), out), said::toString);
            return Files.readString(out.resolve(name + ".java"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
