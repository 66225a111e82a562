package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CpuSampleTest {
    private final CpuSample sample = new CpuSample(100);

    /** For how many so many stand, in all, and how many of them are asked. */
    private int[] of(int many) {
        int[] weights = IntStream.range(0, many).map(i -> sample.next()).filter(w -> w > 0).toArray();
        return new int[] {IntStream.of(weights).sum(), weights.length};
    }

    @Test
    void all_are_asked_while_they_are_few() {
        sample.passed(0.25, 49); // 196 a second
        assertEquals(1_000, of(1_000)[0]);
        assertEquals(1_000, of(1_000)[1]);
    }

    @Test
    void some_stand_for_many() {
        sample.passed(0.25, 500); // 2,000 a second
        int[] of = of(100_000);
        assertEquals(100_000, of[0], 8_000);
        assertEquals(5_000, of[1], 400);
    }

    @Test
    void all_are_asked_again_when_they_have_become_few() {
        sample.passed(0.25, 500);
        sample.passed(0.25, 0);
        assertEquals(10, of(10)[1]);
    }
}
