package dev.loadline.omp.compiler;

import java.util.List;
import java.util.Random;

/**
 * Makes random programs with directives whose result does not depend on who runs what: exact integer
 * reductions, writes to disjoint elements, ordered output.
 */
final class Programs {
    private static final List<String> OPERATORS = List.of("+", "*", "&", "|", "^", "min", "max");

    private final Random random;

    Programs(long seed) {
        random = new Random(seed);
    }

    /** A method {@code static String name() throws Exception}. */
    String method(String name) {
        var text = new StringBuilder("static String " + name + "() throws Exception {\n");
        text.append("int n = ").append(between(0, 40)).append("; n += ").append(between(0, 3)).append(";\n");
        text.append("long s = ").append(between(-9, 9)).append(", t = 7; int last = -1, c = 0; boolean all = true, any = false;\n");
        text.append("int[] a = new int[64]; long[] h = new long[8]; var out = new StringBuilder();\n");
        int count = between(1, 3);
        for (int i = 0; i < count; i++) {
            text.append(random.nextInt(4) == 0 ? region() : alone());
        }
        return text.append("return s + \" \" + t + \" \" + last + \" \" + c + \" \" + all + any + Arrays.toString(a) + Arrays.toString(h) + out;\n}\n").toString();
    }

    private int between(int low, int high) {
        return low + random.nextInt(high - low + 1);
    }

    private String pick(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private String threads() {
        return pick("", "", " num_threads(1)", " num_threads(2)", " num_threads(3)", " num_threads(n % 4 + 1)", " if(n > 20) num_threads(4)");
    }

    private String schedule() {
        return pick("", "", " schedule(static)", " schedule(static, 3)", " schedule(dynamic)", " schedule(dynamic, 4)", " schedule(guided)",
                " schedule(guided, 2)", " schedule(runtime)", " schedule(dynamic, n + 1)");
    }

    /** A loop head over at most 64 values from 0 to 63. */
    private String head(String type) {
        int step = between(1, 5);
        return switch (random.nextInt(8)) {
            case 0 -> "for (" + type + " i = 0; i < n; i++)";
            case 1 -> "for (" + type + " i = n; i > 0; i--)";
            case 2 -> "for (" + type + " i = " + between(0, 9) + "; i <= n; i += " + step + ")";
            case 3 -> "for (" + type + " i = n + 3; i >= 2; i -= " + step + ")";
            case 4 -> "for (" + type + " i = 1; n > i; i = i + " + step + ")";
            case 5 -> "for (" + type + " i = 0; i != n; ++i)";
            case 6 -> "for (" + type + " i = Math.min(n, 5); i < Math.max(n, 7) + 1; i = " + step + " + i)";
            default -> "for (" + type + " i = 63; 0 <= i; i -= (" + step + "))";
        };
    }

    private String skip() {
        return pick("", "", "if (i % 3 == 1) continue;\n", "if ((i & 1) == 0) { continue; }\n");
    }

    private String value() {
        return pick("i", "i * 3 + 1", "(i ^ 5)", "i * i - 7", "switch ((int) i % 3) { case 0 -> 4; case 1 -> { int q = (int) i; yield q + 1; } default -> -2; }",
                "((java.util.function.LongUnaryOperator) x -> x * 2).applyAsLong(i)", "new P((int) i, 2).sum()", "f(i)");
    }

    private String reduce(String variable, String operator, String value) {
        return switch (operator) {
            case "min", "max" -> variable + " = Math." + operator + "(" + variable + ", " + value + ");\n";
            default -> variable + " " + operator + "= " + value + ";\n";
        };
    }

    /** A construct that is a region of its own. */
    private String alone() {
        String type = pick("int", "int", "long");
        String operator = OPERATORS.get(random.nextInt(OPERATORS.size()));
        return switch (random.nextInt(11)) {
            case 0, 1 -> "//omp parallel for reduction(" + operator + " : s)" + schedule() + threads() + "\n" + head(type) + " {\n" + skip()
                    + reduce("s", operator, value()) + "}\n";
            case 2 -> "//omp parallel for lastprivate(last)" + schedule() + threads() + "\n" + head(type) + " {\n"
                    + "last = (int) i; a[(int) i] += (int) (" + value() + ");\n}\n";
            case 3 -> "//omp parallel for collapse(2) reduction(+ : s, c)" + schedule() + threads() + "\n" + head("int") + "\n  for (int j = " + between(0, 3)
                    + "; j < n % 5 + 2; j += " + between(1, 2) + ") {\n" + skip() + "s += i * 10 + j; c++;\n}\n";
            case 4 -> "//omp parallel for ordered" + schedule() + threads() + "\n" + head(type) + " {\nlong v = " + value() + ";\n"
                    + (random.nextBoolean() ? "if (i % 4 != 2) " : "") + "{\n//omp ordered\nout.append(v).append(' ');\n}\n}\n";
            case 5 -> "//omp parallel sections reduction(+ : s) lastprivate(last)" + threads() + "\n{\n//omp section\n{ s += 5; last = 1; }\n//omp section\na[1] += 4;\n//omp section\n{ for (int i = 0; i < n; i++) s += "
                    + value() + "; last = 3; }\n}\n";
            case 6 -> "//omp parallel for reduction(+ : h)" + schedule() + threads() + "\n" + head(type) + " {\n" + skip() + "h[(int) i & 7] += " + value() + ";\n}\n";
            case 7 -> "for (int r = 0; r < 3; r++) {\n//omp parallel for reduction(+ : s)" + schedule() + threads()
                    + "\nfor (int x : a) { s += x + r; }\n}\n";
            case 8 -> "{ var list = new " + pick("ArrayList", "LinkedList") + "<Integer>(); for (int i = 0; i < n; i++) list.add(i * 2);\n{\n//omp parallel for reduction(+ : t) reduction(&& : all) reduction(|| : any)"
                    + schedule() + threads() + "\nfor (Integer x : list) { if (x % 4 == 0) continue; t += x; all = all && x < 70; any = any || x == 6; }\n} }\n";
            case 9 -> "//omp parallel" + threads() + "\n//omp single\nfor (int i = 0; i < n; i++) {\n//omp task\n{ int k = i;\n//omp atomic\ns += k;\n//omp critical (x)\nc += k % 3;\n}\n}\n";
            default -> "//omp parallel for firstprivate(t) schedule(static)" + threads() + "\n" + head(type) + " { a[(int) i] = (int) (t + " + value() + "); }\n";
        };
    }

    /** A region with several constructs. */
    private String region() {
        var text = new StringBuilder("//omp parallel" + threads() + " default(shared)\n{\n");
        int count = between(1, 4);
        for (int i = 0; i < count; i++) {
            text.append(switch (random.nextInt(7)) {
                case 0 -> "//omp for reduction(+ : s)" + schedule() + "\n" + head("int") + " {\n" + skip() + "s += " + value() + ";\n}\n";
                case 1 -> "//omp for nowait" + schedule() + "\nfor (int i = 0; i < 64; i++) { int old = a[i]; old += i;\n//omp critical\na[i] = Math.max(a[i], old); }\n//omp barrier\n";
                case 2 -> "//omp single\n{ c += 3; out.append(c).append(';'); }\n";
                case 3 -> "{ int v" + i + ";\n//omp single copyprivate(v" + i + ")\nv" + i + " = n * 3;\n//omp for\nfor (int i = 0; i < 64; i++) { a[i] += v" + i + "; } }\n";
                case 4 -> "//omp barrier\n//omp master\nt = t * 3 + 1;\n//omp barrier\n";
                case 5 -> "//omp for schedule(dynamic)\nfor (int i = 0; i < 8; i++) {\nlong q = 0;\n//omp parallel for reduction(+ : q) num_threads(2)\nfor (int j = 0; j <= i; j++) q += j;\nh[i] += q; }\n";
                default -> "//omp for ordered" + schedule() + "\n" + head("int") + " {\n//omp ordered\nout.append(i).append(',');\n}\n";
            });
        }
        return text.append("}\n").toString();
    }

    /** What all programs use. */
    static final String COMMON = "record P(int a, int b) { int sum() { return a + b; } }\nstatic <T extends Number> long f(T x) { return x.longValue() * 5 - 1; }\n";
}
