package dev.loadline.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiltersTest {
    private static Filters of(String filters) {
        return Filters.of(filters, ' ');
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "com.shop.**                 | com.shop.Cart.add(int)                       | true",
        "com.shop.**                 | com.shop.model.Item.price()                  | true",
        "com.shop.**                 | com.shopping.Cart.add(int)                   | false",
        "com.shop.*                  | com.shop.Cart.add(int)                       | true",
        "com.shop.*                  | com.shop.model.Item.price()                  | false",
        "com.shop.Cart               | com.shop.Cart.<init>()                       | true",
        "com.shop.Cart               | com.shop.Cart$Line.add(int)                  | false",
        "com.shop.Cart*              | com.shop.Cart$Line.add(int)                  | true",
        "com.shop.Cart.add           | com.shop.Cart.add(int)                       | true",
        "com.shop.Cart.add           | com.shop.Cart.addAll(java.util.List)         | false",
        "**.get*                     | com.shop.Cart.getTotal()                     | true",
        "**.get*                     | com.shop.Cart.add(int)                       | false",
        "com.shop.Cart.<init>        | com.shop.Cart.<init>(int)                    | true",
        "com.shop.Cart.add(int)      | com.shop.Cart.add(int)                       | true",
        "com.shop.Cart.add(int)      | com.shop.Cart.add(int,String)                | false",
        "com.shop.Cart.add(int,**)   | com.shop.Cart.add(int,java.util.List)        | true",
        "com.shop.Cart.add(*)        | com.shop.Cart.add(java.util.List)            | false",
    })
    void a_pattern_stands_for_methods_by_name_parameters_or_class(String filter, String method, boolean taken) {
        assertEquals(taken, of(filter).takesMethod(method));
        if (taken) {
            assertTrue(of(filter).mayTakeOf(method.substring(0, method.lastIndexOf('.', method.indexOf('(')))));
        }
    }

    @Test
    void the_last_filter_that_matches_decides() {
        Filters filters = of("com.shop.** !com.shop.model.*.get* com.shop.model.Item.getPrice");
        assertTrue(filters.takesMethod("com.shop.model.Item.setPrice(int)"));
        assertEquals(false, filters.takesMethod("com.shop.model.Item.getName()"));
        assertTrue(filters.takesMethod("com.shop.model.Item.getPrice()"));
        assertEquals(false, filters.takesMethod("org.other.Cart.add(int)"));
        assertEquals(false, of("!com.shop.Cart com.shop.**").mayTakeOf("org.other.Cart"));
    }

    @ParameterizedTest
    @CsvSource({
        "http-*, http-nio-8080-exec-1, true", "http-*, main, false", "!http-*, main, true", "!http-*, http-1, false",
        "* !http.*, http.1, false", "http-* !*-2, http-2, false", "*, '', true",
    })
    void threads_are_all_wanted_unless_a_filter_takes_some(String filters, String thread, boolean taken) {
        assertEquals(taken, of(filters).takesThread(thread));
    }

    @Test
    void no_filter_is_none() {
        assertNull(of(""));
    }
}
