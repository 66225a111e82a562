package dev.loadline.omp.compiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.loadline.omp.Omp;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What of Java may stand in and around regions; each result is that of the program without directives. */
class LanguageTest {
    private static final String PROGRAM = """
            import java.io.*;
            import java.util.*;
            import java.util.function.*;
            public class L<T extends Comparable<T>> {
                private int field = 3;
                private static long total;
                private final List<T> items = new ArrayList<>();
                class Inner { T best; Inner(T t) { best = t; } }
                interface Shape { default double area() { double s = 0;
                    //omp parallel for reduction(+ : s)
                    for (int i = 0; i < 10; i++) { s += i; }
                    return s; } }
                T best(List<T> list, T start) {
                    T found = start;
                    Inner inner = new Inner(start);
                    //omp parallel for
                    for (T t : list) {
                        //omp critical
                        { if (t.compareTo(found) > 0) { found = t; inner.best = t; } }
                    }
                    if (inner.best != found) throw new AssertionError();
                    return found;
                }
                int fields(int n) {
                    //omp parallel for reduction(+ : field, total)
                    for (int i = 0; i < n; i++) { field += i; total += 2; this.items.size(); }
                    return field;
                }
                static String read(String text) throws IOException {
                    StringBuilder out = new StringBuilder();
                    String line = null;
                    //omp parallel private(line)
                    //omp single
                    try (BufferedReader r = new BufferedReader(new StringReader(text))) {
                        while ((line = r.readLine()) != null) { if (line.isEmpty()) continue; out.append(line.length()); }
                    }
                    return out.toString();
                }
                static int checked(int n) {
                    try {
                        //omp parallel for
                        for (int i = 0; i < n; i++) { if (i == 2) throw new FileNotFoundException("two"); }
                    } catch (FileNotFoundException e) { return 1; } catch (RuntimeException e) { return 2; }
                    return 0;
                }
                static int sum(int from, int to) {
                    if (to - from < 3) { int s = 0; for (int i = from; i < to; i++) s += i; return s; }
                    int left, right = 0, middle = (from + to) / 2;
                    //omp task shared(left)
                    left = sum(from, middle);
                    //omp task shared(right) if(to - from > 8)
                    { right = sum(middle, to); }
                    //omp taskwait
                    return left + right;
                }
                static String run() throws Exception {
                    var out = new StringJoiner(",");
                    L<String> l = new L<>();
                    out.add(l.best(List.of("a", "c", "b"), ""));
                    out.add("" + l.fields(7) + total);
                    out.add("" + new Shape() { }.area());
                    out.add(read(\"""
                        //omp parallel
                        ab
                        \"""));
                    out.add("" + checked(2) + checked(5));
                    int[] r = {0};
                    //omp parallel
                    //omp single
                    r[0] = sum(0, 50);
                    out.add("" + r[0]);
                    var odd = new Object() { int hits = 0; };
                    var names = new HashMap<String, List<? super Integer>>();
                    int i, n = 10; int mark[] = new int[n], done;
                    done = 0;
                    outer:
                    for (int k = 0; k < 3; k++) {
                        //omp parallel for private(i) schedule(dynamic)
                        rows: for (i = k; i < n; i++) {
                            for (int j = 0; j < 3; j++) { if (j == 1 && i == 3) continue rows; if (i == 0) continue; }
                            class Local { int twice() { return 2 * n() + odd.hits; } int n() { return mark.length; } }
                            mark[i] += new Local().twice();
                            Supplier<Integer> s = () -> mark.length;
                            mark[i] += s.get();
                        }
                        if (k == 1) continue outer;
                    }
                    //omp parallel for reduction(+ : done) firstprivate(n)
                    for (long q = 5L; q >= -5L; q -= 2) { n++; done += q > 0 ? 1 : 10; }
                    Object o = "text";
                    if (o instanceof String str && !str.isEmpty()) {
                        //omp parallel for
                        for (char c : str.toCharArray()) {
                            //omp critical (names)
                            names.computeIfAbsent(String.valueOf(c), x -> new ArrayList<>()).add(1);
                        }
                    }
                    String text = "";
                    //omp parallel for reduction(+ : text) schedule(static)
                    for (int k = 0; k < 5; k++) text += k;
                    byte b = 3; short h = 4; char c = 'a'; float f = 1f; boolean flag = false;
                    //omp parallel for reduction(+ : b, h) reduction(max : c, f) reduction(|| : flag)
                    for (int k = 0; k < 4; k++) { b += 1; h += 2; if (k == 2) c = 'z'; f = Math.max(f, k); flag |= k == 3; }
                    return out + Arrays.toString(mark) + done + new TreeMap<>(names) + text + b + h + c + f + flag;
                }
            }
            """;

    @AfterEach
    void restore() {
        Omp.setDynamic(true);
    }

    @Test
    void generics_inner_and_local_classes_lambdas_patterns_and_resources_work_in_regions() throws Exception {
        var plain = new InMemory();
        ClassLoader sequential = plain.compile(List.of(InMemory.source("L", PROGRAM)), false);
        assertNotNull(sequential, () -> plain.said.toString());
        var omp = new InMemory();
        ClassLoader parallel = omp.compile(List.of(InMemory.source("L", PROGRAM)), true);
        assertNotNull(parallel, () -> omp.said.toString());
        Omp.setDynamic(false);
        String expected = run(sequential);
        for (int threads = 1; threads <= 3; threads++) {
            Omp.setNumThreads(threads);
            assertEquals(expected, run(parallel), threads + " threads");
            parallel = omp.compile(List.of(InMemory.source("L", PROGRAM)), true); // its statics anew
        }
    }

    private static String run(ClassLoader loader) throws Exception {
        var method = loader.loadClass("L").getDeclaredMethod("run");
        method.setAccessible(true);
        return (String) method.invoke(null);
    }
}
