package dev.loadline.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdentitiesTest {
    private final Identities identities = new Identities();

    @Test
    void an_object_has_the_last_number_and_its_equal_none() {
        String known = new String("x");
        identities.put(known, 7);
        identities.put(known, 8);

        assertEquals(8, identities.get(known));
        assertEquals(0, identities.get(new String("x")));
    }

    /** A pool's prepared statements stay, however many others are prepared once and dropped. */
    @Test
    void who_is_still_there_outlives_those_who_are_gone() {
        List<Object> kept = put(1_000);
        for (int round = 0; round < 20; round++) {
            put(10_000);
            System.gc();
        }

        int remembered = remembered(kept);
        // Hardly a set of four takes more than three of the 10,000 before a collection.
        assertTrue(remembered > 900, remembered + " of 1000");
    }

    /** More than the first cache has room for, as a pool's cached statements may be. */
    @Test
    void who_made_room_is_known_by_its_newest_number() {
        List<Object> live = put(15_000);
        assertTrue(remembered(live) > 14_000, remembered(live) + " of 15000");

        for (Object object : live) {
            identities.put(object, -1);
        }
        for (int i = 0; i < live.size(); i++) {
            identities.put(live.get(i), i + 1);
        }
        assertTrue(remembered(live) > 14_000, remembered(live) + " of 15000");
    }

    @Test
    void a_number_is_never_anothers_when_it_is_crowded() {
        List<Object> live = put(200_000);

        assertTrue(remembered(live) < live.size(), "it is bounded");
    }

    /** New objects with the numbers from 1 on; the newest is always known. */
    private List<Object> put(int count) {
        List<Object> objects = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            Object object = new Object();
            objects.add(object);
            identities.put(object, i);
            assertEquals(i, identities.get(object));
        }
        return objects;
    }

    /** How many of these still have their number; none has another's. */
    private int remembered(List<Object> objects) {
        int known = 0;
        for (int i = 0; i < objects.size(); i++) {
            int number = identities.get(objects.get(i));
            assertTrue(number == 0 || number == i + 1, "another's");
            known += number == 0 ? 0 : 1;
        }
        return known;
    }
}
