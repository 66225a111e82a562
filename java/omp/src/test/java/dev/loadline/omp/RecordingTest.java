package dev.loadline.omp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a real recording of a compiled program shows: regions and constructs with their places, and four states. */
@Timeout(120)
class RecordingTest {
    private static final Path BUILT = Path.of("../../target/release").toAbsolutePath().normalize();
    private static final String PROGRAM = """
            public class Rec {
                public static void main(String[] arguments) throws Exception {
                    double[] a = new double[20_000];
                    long end = System.nanoTime() + 3_000_000_000L; // long enough that the recorder has begun
                    while (System.nanoTime() < end) {
                        //omp parallel num_threads(2)
                        {
                            //omp for schedule(dynamic, 64)
                            for (int i = 0; i < a.length; i++) { a[i] = Math.sqrt(a[i] + i); }
                            //omp single
                            a[0] = 1;
                            //omp barrier
                        }
                        Thread.sleep(10);
                    }
                }
            }
            """;

    @TempDir
    Path directory;

    @Test
    void regions_and_constructs_are_spans_with_their_lines_and_threads_have_the_four_states() throws Exception {
        for (String needed : List.of("loadline", "libloadline-agent.so", "loadline-agent.jar", "loadline-api.jar")) {
            if (!Files.exists(BUILT.resolve(needed))) {
                System.err.println("SKIP RecordingTest: " + BUILT.resolve(needed) + " is missing; make build makes it");
                abort("nothing to record with");
            }
        }
        String classes = System.getProperty("java.class.path").split(java.io.File.pathSeparator)[1];
        assertTrue(Files.exists(Path.of(classes, "dev/loadline/omp/Omp.class")), classes);
        Path source = Files.writeString(directory.resolve("Rec.java"), PROGRAM);
        assertEquals("", run(List.of(java(), "-cp", classes, "dev.loadline.omp.compiler.Main", "-d", directory.toString(), source.toString())));
        String path = directory + ":" + classes + ":" + BUILT.resolve("loadline-api.jar");
        Path trace = directory.resolve("trace");
        run(List.of(BUILT.resolve("loadline").toString(), "record", "--levels", "jvm,app", "-o", trace.toString(), "--",
                java(), "-Domp.dynamic=false", "-cp", path, "Rec"));
        String spans = query(trace, "select name || '|' || count(distinct thread) as x from spans where name like 'omp %' group by name order by name");
        for (String expected : List.of(
                "omp parallel Rec.main (Rec.java:6)|1", "omp for Rec.main (Rec.java:8)|2", "omp single Rec.main (Rec.java:10)|2", "omp barrier Rec.main (Rec.java:12)|2",
                "omp idle|1", "omp overhead|1", "omp run|2", "omp synch|2")) {
            assertTrue(spans.contains(expected), () -> "no " + expected + " in:\n" + spans);
        }
        String outside = query(trace, "select 'outside ' || count(*) as x from spans f join spans p on p.name like 'omp parallel%' and f.thread = p.thread "
                + "where f.name like 'omp for%' and f.begin_ns < p.begin_ns and f.end_ns > p.begin_ns");
        assertTrue(outside.contains("outside 0"), outside);
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static String query(Path trace, String sql) throws IOException, InterruptedException {
        return run(List.of(BUILT.resolve("loadline").toString(), "query", trace.toString(), sql));
    }

    /** What a command prints, which must end well. */
    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), () -> command + " does not end");
        assertEquals(0, process.exitValue(), () -> command + " printed:\n" + output);
        return output;
    }
}
