package dev.loadline.omp.compiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.loadline.omp.Omp;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The directives that random programs seldom or never have; each program means what it means without them. */
class DirectivesTest {
    @AfterEach
    void restore() {
        Omp.setDynamic(true);
        Omp.setMaxActiveLevels(1);
    }

    /** Columns: declarations, then what a method {@code String run()} does; its result is compared. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = false, value = {
        "declared reduction of a builder||StringBuilder b = new StringBuilder(\"<\");"
            + "~//omp declare reduction(append : StringBuilder : omp_out.append(omp_in)) initializer(omp_priv = new StringBuilder())"
            + "~//omp parallel for reduction(append : b)~for (int i = 0; i < 30; i++) b.append(i).append(' ');~return b.toString();",
        "declared reduction of a record|record P(int at, int v) { }|P p = new P(-1, -1);"
            + "~//omp declare reduction(best : P : omp_out = omp_in.v() > omp_out.v() ? omp_in : omp_out) initializer(omp_priv = new P(-1, Integer.MIN_VALUE))"
            + "~//omp parallel for reduction(best : p) schedule(static)~for (int i = 0; i < 50; i++) { int v = (i * 37) % 50; if (v > p.v()) p = new P(i, v); }~return p.toString();",
        "reductions of arrays||int[] m = new int[5]; long[] x = {0, 0}; double[][] g = new double[3][4]; float[] f = {1f};"
            + "~//omp parallel for reduction(max : m) reduction(^ : x) reduction(+ : g) reduction(* : f)"
            + "~for (int i = 1; i < 12; i++) { m[i % 5] = Math.max(m[i % 5], i * 3); x[i & 1] ^= i * 77L; g[i % 3][i % 4] += i; f[0] *= 2; }"
            + "~return Arrays.toString(m) + Arrays.toString(x) + Arrays.deepToString(g) + f[0];",
        "simd||double[] a = new double[40]; double s = 0;~//omp simd~for (int i = 0; i < 40; i++) a[i] = i;"
            + "~//omp parallel for simd safelen(8) reduction(+ : s)~for (int i = 0; i < 40; i++) s += a[i];"
            + "~//omp parallel~{~//omp for simd~for (int i = 0; i < 40; i++) a[i] += 1;~}~return s + Arrays.toString(a);",
        "masked and flush||int[] n = {0};~//omp parallel~{~//omp masked~n[0]++;~//omp flush~//omp barrier~}~return \"\" + n[0];",
        "copies of several variables||int[] n = {0};~//omp parallel~{ int a; String b;~//omp single copyprivate(a, b)~{ a = 7; b = \"x\"; }"
            + "~//omp single~n[0] = a + b.length();~}~return \"\" + n[0];",
        "regions within regions||long[] h = new long[8];~//omp parallel for~for (int i = 0; i < 8; i++) { long q = 0;"
            + "~//omp parallel for reduction(+ : q)~for (int j = 0; j < 20; j++) q += i * j;~h[i] = q; }~return Arrays.toString(h);",
        "orphaned loops|static void fill(int[] a) {~//omp for schedule(dynamic)~for (int i = 0; i < a.length; i++) a[i] += i;~}|int[] a = new int[20];"
            + "~//omp parallel~fill(a);~fill(a);~return Arrays.toString(a);",
        "atomic updates of every kind|static int field; static byte small|int i = 0; long l = 0; float f = 0; double d = 1; int[] a = new int[2]; int low = 99, high = -1; field = 0; small = 0; int bits = 255;"
            + "~//omp parallel for~for (int k = 0; k < 64; k++) {~//omp atomic~i++;~//omp atomic~l -= k;~//omp atomic~f += 0.5f;~//omp atomic~d = d * 1;"
            + "~//omp atomic~a[k & 1] += k;~//omp atomic~low = Math.min(low, k);~//omp atomic~high = Math.max(k, high);~//omp atomic~field += k;~//omp atomic~small++;"
            + "~//omp atomic~bits &= ~k;~}~return \"\" + i + l + f + d + Arrays.toString(a) + low + high + field + small + bits;",
        "tasks and their children|static int fib(int n) { if (n < 2) return n; int x, y;~//omp task shared(x)~x = fib(n - 1);~//omp task shared(y)~y = fib(n - 2);"
            + "~//omp taskwait~return x + y; }|int[] r = {0};~//omp parallel~//omp single~r[0] = fib(12);~return \"\" + r[0];",
        "a lambda, a switch expression and a local class in a region||int[] out = new int[9];~//omp parallel for~for (int i = 0; i < 9; i++) {"
            + " record Pair(int a, int b) { } class Twice { int of(int x) { return 2 * x; } } java.util.function.IntUnaryOperator f = x -> x + 1;"
            + " out[i] = switch (i % 3) { case 0 -> f.applyAsInt(i); case 1 -> new Pair(i, 1).a(); default -> { int y = i; yield new Twice().of(y); } }; }~return Arrays.toString(out);",
        "collapse of three||int s = 0;~//omp parallel for collapse(3) reduction(+ : s) schedule(dynamic, 2)~for (int i = 0; i < 3; i++)~for (int j = 4; j > 0; j -= 2)"
            + "~for (int k = 0; k <= 4; k += 3)~s += 100 * i + 10 * j + k;~return \"\" + s;",
    })
    void means_what_it_means_without(String name, String declarations, String body) throws Exception {
        String members = declarations == null ? "" : declarations + (declarations.endsWith("}") ? "" : ";");
        String text = ("import java.util.*; public class D { " + members + "~public static String run() throws Exception {~" + body + "~} }")
                .replace("= ~k", "= \u0000k").replace('~', '\n').replace('\u0000', '~');
        var plain = new InMemory();
        ClassLoader sequential = plain.compile(List.of(InMemory.source("D", text)), false);
        assertNotNull(sequential, () -> plain.said.toString());
        var omp = new InMemory();
        ClassLoader parallel = omp.compile(List.of(InMemory.source("D", text)), true);
        assertNotNull(parallel, () -> omp.said.toString());
        Object expected = sequential.loadClass("D").getMethod("run").invoke(null);
        Omp.setDynamic(false);
        Omp.setMaxActiveLevels(2);
        for (int threads = 1; threads <= 3; threads++) {
            Omp.setNumThreads(threads);
            assertEquals(expected, parallel.loadClass("D").getMethod("run").invoke(null), threads + " threads");
        }
    }
}
