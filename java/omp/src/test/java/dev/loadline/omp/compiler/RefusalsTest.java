package dev.loadline.omp.compiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every error message, with the place that it names: the text that the caret stands under. */
class RefusalsTest {
    private static final String LOOP = "\nfor (int i = 0; i < n; i++) { s += i; }";

    private static Arguments refused(String body, String caretAt, String message) {
        return Arguments.of(body, caretAt, message);
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                // the text of directives
                refused("//omp\n{ }", "", "a directive is missing here"),
                refused("//omp paralel for" + LOOP, "paralel", "there is no directive 'paralel'; did you mean 'parallel'?"),
                refused("//omp target" + LOOP, "target", "there is no directive 'target'; there are parallel, for"),
                refused("//omp parallel for shedule(static)" + LOOP, "shedule", "there is no clause 'shedule'; did you mean 'schedule'?"),
                refused("//omp parallel nowait\n{ }", "nowait", "'parallel' cannot have the clause 'nowait'; it belongs to 'for', 'for simd', 'sections', 'single'"),
                refused("//omp parallel !\n{ }", "!", "'!' is not expected here"),
                refused("//omp parallel if(n > 1) if(n > 2)\n{ }", "if(n > 2)", "the clause 'if' is here twice"),
                refused("//omp parallel num_threads\n{ }", "s", "the clause 'num_threads' needs brackets; write num_threads(4)"),
                refused("//omp parallel num_threads()\n{ }", "()", "the clause 'num_threads' has nothing in its brackets"),
                refused("//omp parallel num_threads(4\n{ }", "(4", "the bracket of 'num_threads' is not closed; add ')'"),
                refused("//omp parallel for ordered(2)" + LOOP, "(2)", "the clause 'ordered' has no brackets"),
                refused("//omp parallel private(s + t)\n{ }", "+ t", "'private' takes names of variables with commas between; write private(a, b)"),
                refused("//omp parallel private()\n{ }", ")", "'private' takes names of variables"),
                refused("//omp parallel default(private)\n{ }", "private)", "'default' is none or shared, not 'private'"),
                refused("//omp parallel for collapse(x)" + LOOP, "x)", "'collapse' takes a positive number, not 'x'"),
                refused("//omp parallel for schedule(sttic)" + LOOP, "sttic", "there is no schedule 'sttic'; did you mean 'static'?"),
                refused("//omp parallel for schedule(runtime, 4)" + LOOP, "runtime", "schedule(runtime) takes no chunk"),
                refused("//omp parallel for schedule(dynamic, )" + LOOP, "dynamic", "the chunk is missing; write schedule(dynamic, 16)"),
                refused("//omp parallel for reduction(s)" + LOOP, "(s)", "'reduction' needs an operator; write reduction(+ : sum)"),
                refused("//omp parallel for reduction( : s)" + LOOP, "( : s)", "'reduction' needs an operator before the colon"),
                refused("//omp critical (a b)\n{ }", "a b", "the name of a 'critical' must be an identifier"),
                refused("//omp declare reduction\n{ }", "n", "'declare reduction' needs brackets"),
                // attaching
                refused("{\n//omp parallel\n}", "parallel", "'parallel' applies to the statement after it, and there is none"),
                refused("//omp parallel\nint q = 1;", "parallel", "'parallel' cannot apply to a declaration"),
                refused("//omp parallel\n//omp barrier\n{ }", "parallel", "'parallel' must be followed by its statement, not by 'barrier'"),
                refused("if (n > 0)\n//omp barrier\n{ }", "barrier", "'barrier' must stand between the statements of a block"),
                // variables
                refused("//omp parallel private(zz)\n{ }", "zz", "there is no variable 'zz' here that 'private' could apply to"),
                refused("//omp parallel private(s) shared(s)\n{ }", "s)", "'s' is in two clauses of this directive"),
                refused("//omp parallel\n{ int v;\n//omp single copyprivate(v, v)\nv = 1; }", "v)", "'v' is here twice"),
                refused("final int q = 1;\n//omp parallel for lastprivate(q)" + LOOP, "q)", "'q' is final: 'lastprivate' could not assign its result"),
                refused("//omp parallel default(none)\n{ s++; }", "s++", "'s' is in no clause, and 'parallel' says default(none); add shared(s) or private(s)"),
                refused("//omp parallel private(s)\n{ s = 1;\n//omp task shared(s)\ns++; }", "task", "the task cannot share 's', of which 'parallel' makes private copies"),
                refused("for (int i = 0; i < n; i++) {\n//omp task shared(i)\n{ System.out.println(i); } }", "int i", "a task can share only variables that a block or a method declares"),
                refused("//omp parallel private(s)\n{ s++; }", "s++", "variable s might not have been initialized; a private copy begins without a value, use firstprivate"),
                // loops
                refused("//omp parallel for\nwhile (n > 0) n--;", "parallel", "'parallel for' applies to a for loop, and the statement after it is none"),
                refused("//omp parallel for\nfor (int i = 0, j = 0; i < n; i++) { }", "for (int", "a parallel loop initializes its variable and nothing else"),
                refused("//omp parallel for\nfor (s++; s < n; s++) { }", "s++; s", "a parallel loop begins by giving its variable a value"),
                refused("//omp parallel for\nfor (int i; n > 0; n++) { }", "int i", "the loop variable has no first value"),
                refused("//omp parallel for\nfor (double d = 0; d < 1; d++) { }", "double", "the variable of a parallel loop is a local int or long, not a double"),
                refused("//omp parallel for\nfor (int i = 0; ; i++) { }", "for (int", "the condition of a parallel loop compares its variable with a bound; write i < n"),
                refused("//omp parallel for\nfor (int i = 0; n > 0; i++) { }", "n > 0", "the condition of a parallel loop compares its variable"),
                refused("//omp parallel for\nfor (int i = 0; i == n; i++) { }", "i == n", "the condition of a parallel loop compares its variable"),
                refused("//omp parallel for\nfor (int i = 0; f(i); i++) { }", "f(i)", "the condition of a parallel loop compares its variable"),
                refused("//omp parallel for\nfor (int i = 0; i != n; i += 2) { }", "i != n", "with '!=' the step must be 1"),
                refused("//omp parallel for\nfor (int i = 0; i < n; i--) { }", "i < n", "the loop counts down, but its condition holds below the bound"),
                refused("//omp parallel for\nfor (int i = 0; i < n; i *= 2) { }", "i *= 2", "a parallel loop changes its variable by a fixed step; write i++ or i += step"),
                refused("//omp parallel for\nfor (int i = 0; i < n; ) { i++; }", "for (int", "a parallel loop changes its variable by a fixed step"),
                refused("//omp parallel for\nfor (int i = 0; i < n; i++) { i += 2; }", "i += 2", "the variable of a parallel loop cannot be assigned in its body"),
                refused("//omp parallel for collapse(2)" + LOOP, "collapse", "'collapse(2)' needs 2 loops, each with nothing but the next in it; here are 1"),
                refused("//omp parallel for collapse(2)\nfor (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { }", "i; j++", "with 'collapse' no loop's range may depend on another's variable, as here on 'i'"),
                refused("int j;\n//omp parallel for collapse(2)\nfor (int i = 0; i < n; i++) for (j = 0; j < n; j++) { }", "for (j", "with 'collapse' each loop must declare its variable"),
                refused("//omp parallel for collapse(2)\nfor (int x : a) { }", "collapse", "'collapse' takes loops that count"),
                // jumps
                refused("//omp parallel for\nfor (int i = 0; i < n; i++) { if (i > 3) break; }", "break", "'break' would leave 'parallel for', which its threads can only end together; use a flag"),
                refused("while (true) {\n//omp parallel\n{ continue; }\n}", "continue", "'continue' would leave 'parallel'"),
                refused("//omp parallel\n{ return; }", "return", "'return' would leave 'parallel', which its threads can only end together; keep the result"),
                refused("out: while (true) {\n//omp critical\n{ break out; }\n}", "break", "'break' would leave 'critical'"),
                refused("int y = switch (n) { default -> {\n//omp critical\n{ yield 2; }\n} };", "yield", "'yield' would leave 'critical'"),
                // nesting
                refused("//omp parallel\n//omp single\n{\n//omp for" + LOOP + "}", "for", "'for' cannot be inside 'single': not every thread of the team comes here"),
                refused("//omp parallel\n//omp master\n{\n//omp barrier\n}", "barrier", "'barrier' cannot be inside 'master'"),
                refused("//omp parallel for\nfor (int i = 0; i < n; i++) {\n//omp master\ns++; }", "master", "'master' cannot be inside 'parallel for'"),
                refused("//omp parallel for\nfor (int i = 0; i < n; i++) {\n//omp ordered\ns++; }", "ordered", "'ordered' needs the clause 'ordered' on its 'parallel for'"),
                refused("//omp parallel\n//omp single\n{\n//omp ordered\ns++; }", "ordered", "'ordered' belongs directly into a loop that has the clause 'ordered', not into 'single'"),
                refused("//omp parallel sections\ns++;", "parallel", "'parallel sections' applies to a block of sections"),
                refused("//omp parallel sections\n{ s++; s++; }", "s++; }", "each statement in 'sections' must be a section".replace("sections' must", "parallel sections' must")),
                refused("//omp parallel sections\n{ }", "parallel", "'parallel sections' has no section"),
                refused("//omp section\ns++;", "section", "'section' belongs directly into the block of a 'sections'"),
                // atomic
                refused("//omp atomic\nSystem.out.println();", "atomic", "'atomic' applies to an update of one variable: x++, x op= e"),
                refused("//omp parallel\n{\n//omp atomic\ns += 1.5; }", "1.5", "'atomic' on a int takes a int, not a double; cast it"),
                // reductions
                refused("//omp parallel for reduction(- : s)" + LOOP, "s)", "the operator '-' combines as '+' does"),
                refused("//omp parallel for reduction(merge : s)" + LOOP, "s)", "there is no reduction operator 'merge'; use one of"),
                refused("//omp parallel for reduction(&& : s)" + LOOP, "s)", "'&&' cannot reduce a int"),
                refused("Object o = null;\n//omp parallel for reduction(+ : o)" + LOOP, "o)", "'+' cannot reduce a java.lang.Object; declare how with 'declare reduction(name : java.lang.Object : …)'"),
                refused("//omp declare reduction(m : long : omp_out += omp_in) initializer(omp_priv = 0)\n//omp parallel for reduction(m : s)" + LOOP, "s)", "the reduction 'm' is declared for long, not for int"),
                refused("//omp declare reduction(m : int)\n;", "m : int", "'declare reduction' takes a name, a type and how to combine"),
                refused("//omp declare reduction(+ : int : omp_out += omp_in) initializer(omp_priv = 0)\n;", "+ : int", "a declared reduction needs a name of its own, not '+'"),
                refused("//omp declare reduction(m : int : omp_out + omp_in) initializer(omp_priv = 0)\n;", "m : int", "the combiner must put omp_in into omp_out"),
                refused("//omp declare reduction(m : int : omp_out += omp_in)\n;", "declare", "a declared reduction must say what a part begins with"),
                refused("//omp parallel\n{ int q = 0;\n//omp for reduction(+ : q)" + LOOP + "}", "q)", "'q' is each thread's own here, so there is nothing to reduce into"),
                refused("int v0=0,v1=0,v2=0,v3=0,v4=0,v5=0,v6=0,v7=0,v8=0,v9=0,va=0,vb=0,vc=0,vd=0,ve=0;\n//omp parallel reduction(+:v0,v1,v2,v3,v4,v5,v6,v7,v8,v9,va,vb,vc,vd,ve)\n{ }",
                        "parallel", "one directive can have at most 14 variables in 'reduction' or 'copyprivate'"),
                // others
                refused("//omp parallel\n{ int v;\n//omp single copyprivate(v) nowait\nv = 1; }", "nowait", "'nowait' cannot be with 'copyprivate'"));
    }

    /** A program with this in a method. */
    static String program(String body) {
        return "public class T { boolean f(int i) { return i < 3; } void m(int n, int[] a) { int s = 0, t = 0;\n" + body + "\n} }\n";
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void is_refused_with_a_place_and_a_remedy(String body, String caretAt, String message) throws Exception {
        String text = program(body);
        var said = InMemory.refuse(text);
        var first = said.get(0);
        assertTrue(first.getMessage(null).contains(message), () -> said.toString());
        assertTrue(text.startsWith(caretAt, (int) first.getPosition()), () -> said.toString());
        String[] lines = first.toString().split("\n");
        String line = text.split("\n")[(int) first.getLineNumber() - 1];
        assertEquals("/T.java:" + first.getLineNumber() + ": error: " + first.getMessage(null), lines[0]);
        assertEquals(line, lines[1]);
        assertEquals(" ".repeat((int) first.getColumnNumber() - 1) + "^", lines[2]);
    }

    @Test
    void a_region_in_a_static_initializer_is_refused_because_it_would_never_end() throws Exception {
        var said = InMemory.refuse("class T { static int x; static {\n//omp parallel\n{ x++; }\n} }");
        assertTrue(said.get(0).getMessage(null).contains("in a static initializer would never end"), said::toString);
    }

    @Test
    void a_comment_that_looks_like_a_directive_is_warned_of() throws Exception {
        var compiler = new InMemory();
        compiler.compile(java.util.List.of(InMemory.source("T", "class T { void f() {\n// omp parallel for\nfor (;;) { } } }")), true);
        assertTrue(compiler.said.get(0).getMessage(null).contains("write //omp without a blank before 'omp'"), compiler.said::toString);
    }

    @Test
    void what_javac_finds_in_a_clause_is_said_at_the_clause() throws Exception {
        String text = "class T { void f(int n) {\n//omp parallel if(n > \"x\")   num_threads(2)\n{ } } }";
        var said = InMemory.refuse(text);
        assertEquals(2, said.get(0).getLineNumber());
        assertEquals(text.indexOf("> \"x\""), said.get(0).getPosition(), said::toString);
    }

    @Test
    void errors_of_the_program_itself_are_javacs_own() throws Exception {
        var said = InMemory.refuse("class T { void f() {\n//omp parallel\n{ int x = \"\"; } } }");
        assertEquals("compiler.err.prob.found.req", said.get(0).getCode());
        assertEquals(3, said.get(0).getLineNumber());
    }
}
