package dev.loadline.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import jdk.internal.misc.Unsafe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The spool's memory, without an agent. */
class SessionTest {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int CHUNKS = 64;

    private long memory;
    private Session session;

    @BeforeEach
    void map() {
        memory = U.allocateMemory((long) CHUNKS * Session.CHUNK);
        U.setMemory(memory, (long) CHUNKS * Session.CHUNK, (byte) 0);
        U.putLong(memory + 16, (long) CHUNKS * Session.CHUNK);
        U.putLong(memory + 24, Session.CHUNK);
        session = new Session(memory, 1, null);
    }

    @AfterEach
    void unmap() {
        U.freeMemory(memory);
    }

    private String textOf(int id) {
        for (int chunk = 1; chunk < CHUNKS; chunk++) {
            long at = memory + (long) chunk * Session.CHUNK + 32;
            long end = at - 32 + Session.CHUNK;
            while (at + 8 <= end && U.getInt(at) != 0) {
                byte[] text = new byte[U.getInt(at + 4)];
                U.copyMemory(null, at + 8, text, Arrays.BYTES, text.length);
                if (U.getInt(at) == id) {
                    return new String(text, StandardCharsets.UTF_8);
                }
                at += 8 + text.length + 7 & ~7;
            }
        }
        return null;
    }

    @Test
    void a_text_has_one_id_and_is_written_once() {
        int id = session.strings.id("quote");
        assertEquals(id, session.strings.id(new String("quote")));
        assertNotEquals(id, session.strings.id("quota"));
        assertEquals("quote", textOf(id));
        assertEquals(0, session.strings.id(""));
        assertEquals(0, session.strings.id(null));
    }

    @Test
    void threads_that_race_for_a_text_agree_on_its_id() throws Exception {
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 5_000; i++) {
                    int id = session.strings.id("text " + i);
                    if (id != session.strings.id("text " + i)) {
                        wrong.add("text " + i);
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertTrue(wrong.isEmpty());
        Set<Integer> ids = new HashSet<>();
        for (int i = 0; i < 5_000; i++) {
            int id = session.strings.id("text " + i);
            assertTrue(ids.add(id));
        }
        assertEquals("text 4999", textOf(session.strings.id("text 4999")));
    }

    @Test
    void a_long_text_is_cut_between_characters() {
        String text = textOf(session.strings.id("\u20ac".repeat(5_000)));
        assertEquals("\u20ac".repeat(Strings.MAX_BYTES / 3), text);
    }

    @Test
    void texts_past_the_bound_are_lost_and_counted() {
        for (int i = 0; i < Strings.MAX_STRINGS; i++) {
            session.strings.id("s" + i);
        }
        assertEquals(0, session.strings.id("one more"));
        assertNotEquals(0, session.strings.id("s0"));
        assertTrue(U.getLong(memory + 40) >= 1);
    }

    @Test
    void chunks_are_claimed_up_to_the_capacity_which_may_grow() {
        U.putLong(memory + 16, 3L * Session.CHUNK);
        assertEquals(memory + Session.CHUNK, session.claim(1, 7, 9));
        assertEquals(memory + 2L * Session.CHUNK, session.claim(1, 7, 9));
        assertEquals(0, session.claim(1, 7, 9));
        assertEquals(3L * Session.CHUNK, U.getLong(memory + 24));
        U.putLong(memory + 16, 4L * Session.CHUNK);
        assertEquals(memory + 3L * Session.CHUNK, session.claim(1, 7, 9));
        assertEquals(7, U.getInt(memory + Session.CHUNK + 8));
        assertEquals(9, U.getLong(memory + Session.CHUNK + 16));
    }

    @Test
    void faults_are_told_once() {
        assertNull(Faults.take());
        Faults.caught(new IllegalStateException("x"));
        assertTrue(Faults.take().startsWith("1 probes failed, the first with java.lang.IllegalStateException: x"));
        assertNull(Faults.take());
    }

    @Test
    void a_request_is_named_without_what_varies() {
        assertEquals("GET /a/b", ServerProbes.requestName("GET", "/a/b?c=d"));
        assertEquals("GET /a", ServerProbes.requestName("GET", "/a;jsessionid=1?c"));
        assertEquals("OPTIONS /", ServerProbes.requestName("OPTIONS", null));
    }
}
