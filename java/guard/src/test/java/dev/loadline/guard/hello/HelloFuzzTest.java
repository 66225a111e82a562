package dev.loadline.guard.hello;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HelloFuzzTest {
    private static final int TIMES = 150_000;

    @Test
    void mutated_hellos_are_read_without_fault_and_as_the_plain_reading_reads_them() {
        var fuzz = new HelloFuzz(1);
        fuzz.run(TIMES);
        assertTrue(fuzz.kept().size() > 10, "the mutations reach outcomes that the corpus has not: " + fuzz.kept().size());
    }

    @Test
    void random_bytes_are_never_a_hello_of_a_kind_that_the_plain_reading_denies() {
        var fuzz = new HelloFuzz(2);
        var random = new java.util.Random(3);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(80)];
            random.nextBytes(bytes);
            if (bytes.length > 9) {
                System.arraycopy(new byte[] {22, 3, 1, 0, (byte) (bytes.length - 5), 1, 0, 0, (byte) (bytes.length - 9)}, 0, bytes, 0, random.nextInt(10));
            }
            fuzz.check(bytes);
        }
    }

    @Test
    void the_plain_reading_knows_the_captured_hellos() {
        for (Corpus c : Corpus.captured()) {
            assertEquals(c.expected().name(), PlainReading.of(c.bytes()).split(" ")[0], c.name());
        }
    }
}
