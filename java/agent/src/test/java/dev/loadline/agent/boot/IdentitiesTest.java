package dev.loadline.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdentitiesTest {
    private final Identities identities = new Identities();

    @Test
    void what_was_never_put_has_no_number() {
        Object known = new Object();
        identities.put(known, 7);

        assertEquals(7, identities.get(known));
        assertEquals(0, identities.get(new Object()));
    }

    @Test
    void the_last_number_counts() {
        Object known = new Object();
        identities.put(known, 7);
        identities.put(known, 8);

        assertEquals(8, identities.get(known));
    }

    /** A pool's prepared statements stay, however many others are prepared once and dropped. */
    @Test
    void who_is_still_there_outlives_those_who_are_gone() {
        List<Object> kept = new ArrayList<>();
        for (int i = 1; i <= 1_000; i++) {
            kept.add(new Object());
            identities.put(kept.get(i - 1), i);
        }
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 10_000; i++) {
                identities.put(new Object(), 1);
            }
            System.gc();
        }

        int remembered = 0;
        for (int i = 0; i < kept.size(); i++) {
            int number = identities.get(kept.get(i));
            assertTrue(number == 0 || number == i + 1, "another's");
            remembered += number == 0 ? 0 : 1;
        }
        // Hardly a set of four takes more than three of the 10,000 before a collection.
        assertTrue(remembered > 900, remembered + " of 1000");
    }

    @Test
    void a_number_is_never_anothers_when_it_is_crowded() {
        List<Object> live = new ArrayList<>();
        for (int i = 1; i <= 100_000; i++) {
            live.add(new Object());
            identities.put(live.get(i - 1), i);
        }

        for (int i = 0; i < live.size(); i++) {
            int number = identities.get(live.get(i));
            assertTrue(number == 0 || number == i + 1, "another's");
        }
        assertEquals(live.size(), identities.get(live.get(live.size() - 1)));
    }
}
