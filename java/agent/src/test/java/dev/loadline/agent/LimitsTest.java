package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LimitsTest {
    @Test
    void the_threads_of_an_executor_differ_by_the_number_at_the_end() {
        assertEquals("http-nio-8080-exec-", Limits.withoutNumber("http-nio-8080-exec-17"));
        assertEquals("main", Limits.withoutNumber("main"));
        assertEquals("", Limits.withoutNumber("42"));
    }
}
