package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ForwardedTest {
    private static final Addresses TRUSTED = Addresses.parse("10.0.0.0/8, 2001:db8:f::/48");

    private record Sent(String peer, String header, List<String> values) implements ServerRequest {
        @Override
        public String method() {
            return "GET";
        }

        @Override
        public String path() {
            return "/";
        }

        @Override
        public String pathInApplication() {
            return "/";
        }

        @Override
        public Iterable<String> headers(String name) {
            return name.equals(header) ? values : List.of();
        }

        @Override
        public String sessionCookie() {
            return null;
        }

        @Override
        public Session session() {
            return Session.UNKNOWN;
        }
    }

    private static Forwarded.Client client(String peer, String header, String... values) {
        return new Forwarded(TRUSTED, header).of(new Sent(peer, header, List.of(values)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "X-Forwarded-For | 192.0.2.7                           | 192.0.2.7",
        "X-Forwarded-For | 203.0.113.9, 192.0.2.7              | 192.0.2.7",
        "X-Forwarded-For | 192.0.2.7, 10.1.1.1                 | 192.0.2.7",
        "X-Forwarded-For | 192.0.2.7:4711                      | 192.0.2.7",
        "X-Forwarded-For | 2001:db8::7                         | 2001:db8:0:0:0:0:0:7",
        "X-Forwarded-For | [2001:db8::7]:4711, 10.2.2.2        | 2001:db8:0:0:0:0:0:7",
        "Forwarded       | for=192.0.2.7;proto=https, For=10.1.1.1 | 192.0.2.7",
        "Forwarded       | proto=https;for=\"[2001:db8::7]:4711\"  | 2001:db8:0:0:0:0:0:7",
        "X-Real-IP       | 192.0.2.7                           | 192.0.2.7"})
    void the_last_address_that_is_no_proxys_is_the_client(String header, String value, String expected) {
        Forwarded.Client client = client("10.0.0.1", header, value);
        assertEquals(expected, client.address().getHostAddress());
        assertTrue(client.alone());
    }

    @Test
    void several_headers_are_one_list() {
        assertEquals("192.0.2.7", client("10.0.0.1", "X-Forwarded-For", "203.0.113.9, 192.0.2.7", "10.3.3.3").address().getHostAddress());
    }

    @Test
    void who_is_not_trusted_is_not_believed_and_its_address_may_be_that_of_many() {
        Forwarded.Client client = client("192.0.2.1", "X-Forwarded-For", "10.0.0.5");
        assertEquals("192.0.2.1", client.address().getHostAddress());
        assertFalse(client.alone());
        assertTrue(client("192.0.2.1", "X-Forwarded-For").alone());
    }

    @ParameterizedTest
    @ValueSource(strings = {"unknown", "_hidden", "", "localhost", "999.1.1.1", "g:1", "1.2.3", "[::1", "for", "::::", "a.example:80"})
    void what_is_no_address_is_nobodys_and_is_not_looked_up(String value) {
        assertNull(client("10.0.0.1", "X-Forwarded-For", "192.0.2.7, " + value).address());
        assertNull(client("10.0.0.1", "Forwarded", "for=" + value).address());
    }

    @Test
    void a_request_of_a_proxy_itself_is_of_that_proxy() {
        assertEquals("10.0.0.1", client("10.0.0.1", "X-Forwarded-For").address().getHostAddress());
        assertFalse(client("10.0.0.1", "X-Forwarded-For", "10.0.0.2").alone());
    }

    @Test
    void a_header_without_end_is_read_to_some_length() {
        String many = String.join(",", Collections.nCopies(10_000, "10.0.0.2"));
        assertEquals("10.0.0.2", client("10.0.0.1", "X-Forwarded-For", "192.0.2.7", many, many).address().getHostAddress());
    }
}
