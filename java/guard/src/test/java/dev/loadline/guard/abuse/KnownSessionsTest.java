package dev.loadline.guard.abuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class KnownSessionsTest {
    private static final long SECOND = 1_000_000_000L;

    private final KnownSessions sessions = new KnownSessions(3);

    @Test
    void a_session_is_known_while_it_comes_and_forgotten_two_minutes_after() {
        long key = sessions.key("JSESSIONID", "A");
        assertFalse(sessions.comes(key, SECOND));
        assertFalse(sessions.add(key, SECOND));
        for (int minute = 1; minute < 10; minute++) {
            assertTrue(sessions.comes(key, 60 * minute * SECOND));
        }
        assertFalse(sessions.comes(key, 60 * 11 * SECOND));
    }

    @Test
    void who_is_taken_away_is_not_known_and_another_may_be() {
        long key = sessions.key("JSESSIONID", "A");
        sessions.add(key, SECOND);
        assertTrue(sessions.isImportant(key, true, SECOND));
        sessions.remove(key);
        assertFalse(sessions.comes(key, SECOND));
        assertFalse(sessions.isImportant(key, false, SECOND));
        assertFalse(sessions.add(key, SECOND));
    }

    @Test
    void names_and_values_make_different_keys() {
        assertNotEquals(sessions.key("a", "bc"), sessions.key("ab", "c"));
        assertNotEquals(sessions.key("JSESSIONID", "A"), sessions.key("SESSION", "A"));
        assertNotEquals(sessions.key("JSESSIONID", "A"), new KnownSessions(3).key("JSESSIONID", "A"), "each process has a secret");
    }

    /** As close together as values are that somebody tries one after another. */
    @Test
    void of_a_million_guesses_none_hits_a_hundred_thousand_sessions() {
        var random = new Random(7);
        for (int i = 0; i < 100_000; i++) {
            sessions.add(sessions.key("JSESSIONID", Long.toHexString(random.nextLong())), SECOND);
        }
        int hits = 0;
        for (int i = 0; i < 1_000_000; i++) {
            hits += sessions.comes(sessions.key("JSESSIONID", Long.toHexString(i)), SECOND) ? 1 : 0;
        }
        assertEquals(0, hits);
    }

    @Test
    void more_requests_than_one_session_has_are_counted_for_ten_seconds() {
        long key = sessions.key("SESSION", "A");
        for (int i = 0; i < 3; i++) {
            assertTrue(sessions.mayUse(key, SECOND));
        }
        assertFalse(sessions.mayUse(key, SECOND));
        assertTrue(sessions.mayUse(sessions.key("SESSION", "B"), SECOND));
        assertTrue(sessions.mayUse(key, 30 * SECOND));
    }
}
