package dev.loadline.omp.compiler;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** The directives, with the clauses that each may have. */
enum DirectiveKind {
    PARALLEL("parallel", "if", "num_threads", "default", "private", "firstprivate", "shared", "reduction"),
    FOR("for", "private", "firstprivate", "lastprivate", "reduction", "schedule", "ordered", "nowait", "collapse"),
    PARALLEL_FOR(
            "parallel for",
            "if", "num_threads", "default", "private", "firstprivate", "lastprivate", "shared", "reduction", "schedule", "ordered", "collapse"),
    FOR_SIMD("for simd", "private", "firstprivate", "lastprivate", "reduction", "schedule", "nowait", "collapse", "safelen", "simdlen"),
    PARALLEL_FOR_SIMD(
            "parallel for simd",
            "if", "num_threads", "default", "private", "firstprivate", "lastprivate", "shared", "reduction", "schedule", "collapse", "safelen",
            "simdlen"),
    SIMD("simd", "reduction", "safelen", "simdlen"),
    SECTIONS("sections", "private", "firstprivate", "lastprivate", "reduction", "nowait"),
    PARALLEL_SECTIONS(
            "parallel sections", "if", "num_threads", "default", "private", "firstprivate", "lastprivate", "shared", "reduction"),
    SECTION("section"),
    SINGLE("single", "private", "firstprivate", "copyprivate", "nowait"),
    MASTER("master"),
    MASKED("masked"),
    CRITICAL("critical"),
    ATOMIC("atomic"),
    ORDERED("ordered"),
    TASK("task", "if", "default", "private", "firstprivate", "shared"),
    BARRIER("barrier"),
    TASKWAIT("taskwait"),
    FLUSH("flush"),
    DECLARE_REDUCTION("declare reduction", "initializer");

    /** Clauses that take a list of variables. */
    static final Set<String> LISTS = Set.of("private", "firstprivate", "lastprivate", "shared", "copyprivate", "reduction");

    final String text;
    final List<String> clauses;

    DirectiveKind(String text, String... clauses) {
        this.text = text;
        this.clauses = List.of(clauses);
    }

    /** Stands alone; the others apply to the next statement. */
    boolean standsAlone() {
        return this == BARRIER || this == TASKWAIT || this == FLUSH || this == DECLARE_REDUCTION;
    }

    static boolean startsOne(String text) {
        String word = text.split("[^a-z]", 2)[0];
        return Arrays.stream(values()).anyMatch(kind -> kind.text.split(" ")[0].equals(word));
    }

    /** The directives that know a clause, as a phrase; empty if there is none. */
    static String whichHave(String clause) {
        var names = Arrays.stream(values()).filter(kind -> kind.clauses.contains(clause)).map(kind -> "'" + kind.text + "'").toList();
        return String.join(", ", names);
    }
}
