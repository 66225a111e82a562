package dev.loadline.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumberedTest {
    @ParameterizedTest
    @CsvSource({
        "tomcat-handler-12, tomcat-handler-, 13",
        "handler-007, handler-00, 8",
        "handler-0, handler-, 1",
        "handler, handler, 0",
        "42, '', 43",
        "x1234567890123456789012, x1234, 567890123456789013",
        "'', '', 0"
    })
    void a_name_is_a_text_and_the_number_that_it_ends_in(String name, String text, long code) {
        int digits = Numbered.digits(name);
        assertEquals(text, name.substring(0, name.length() - digits));
        assertEquals(code, Numbered.code(name, digits));
    }
}
