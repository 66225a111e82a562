package dev.loadline.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlTextTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\u0001', value = {
        "SELECT * FROM t WHERE a = 1 | SELECT * FROM t WHERE a = ?",
        "SELECT 'it''s', \"it's\" | SELECT ?, \"it's\"",
        "SELECT -1.5e-3, .5, 0x1F, t1.c2 | SELECT -?, ?, ?, t1.c2",
        "INSERT INTO t VALUES (1, 'a', NULL) | INSERT INTO t VALUES (?, ?, NULL)",
        "a IN (1, 2,3) AND b in(?) | a IN (?…) AND b in(?…)",
        "a NOT IN ('x') | a NOT IN (?…)",
        "a IN (SELECT 1) | a IN (SELECT ?)",
        "admin (?, ?) | admin (?, ?)",
        "f(1, 2) | f(?, ?)",
        "SELECT/* a 'b */1 -- c | SELECT ?",
        "SELECT N'x', E'y', x'00' | SELECT ?, ?, ?",
        "WHERE a = $1 AND b = $tag$ it's $tag$ | WHERE a = ? AND b = ?",
        "SELECT `a b`, 'open | SELECT `a b`, ?",
        "WHERE a=:name | WHERE a=:name",
    })
    void literals_lists_and_comments_go(String sql, String normal) {
        assertEquals(normal, SqlText.normalise(sql));
    }

    @ParameterizedTest
    @CsvSource({"3000", "100000"})
    void a_long_text_is_cut(int length) {
        assertEquals(SqlText.MAX_CHARS, SqlText.normalise("x".repeat(length)).length());
        assertEquals("SELECT (?, ?", SqlText.normalise("SELECT (" + "1, ".repeat(length)).substring(0, 12));
    }

    @Property(tries = 5_000)
    void any_text_is_normalised_within_bounds(@ForAll String sql) {
        String normal = SqlText.normalise(sql);
        assertTrue(normal.length() <= SqlText.MAX_CHARS);
        assertFalse(normal.startsWith(" ") || normal.endsWith(" "));
    }

    @Property(tries = 5_000)
    void what_is_normal_stays_as_it_is(@ForAll("sqlLike") String sql) {
        String normal = SqlText.normalise(sql);
        assertEquals(normal, SqlText.normalise(normal));
    }

    @Property(tries = 2_000)
    void statements_that_differ_in_literals_are_one(@ForAll int a, @ForAll("words") String b) {
        int positive = a & Integer.MAX_VALUE;
        assertEquals(
                SqlText.normalise("SELECT x FROM t WHERE a = 1 AND b = 'b'"),
                SqlText.normalise("SELECT x FROM t  WHERE a = " + positive + " AND b = '" + b.replace("'", "''") + "'"));
    }

    @Provide
    Arbitrary<String> sqlLike() {
        return Arbitraries.of("SELECT", " ", "\n", "'x'", "'it''s'", "\"q\"", "1", "2.5", "?", "(", ")", ",", "IN", "in (",
                "/* c */", "--c\n", "t.a", "$1", "$$ b $$", "=", "-", "+", "`k`", "\u2026", "N'x'", ":p", "/", "*")
                .list().ofMaxSize(30).map(parts -> String.join("", parts));
    }

    @Provide
    Arbitrary<String> words() {
        return Arbitraries.strings().ofMaxLength(40);
    }
}
