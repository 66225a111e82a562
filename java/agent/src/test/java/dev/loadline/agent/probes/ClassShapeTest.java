package dev.loadline.agent.probes;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClassShapeTest {
    private static byte[] classFile(String name) throws IOException {
        try (InputStream in = ClassLoader.getSystemResourceAsStream(name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "com.zaxxer.hikari.HikariDataSource, true",
        "com.zaxxer.hikari.pool.ProxyConnection, true",
        "com.zaxxer.hikari.pool.HikariProxyPreparedStatement, true",
        "org.h2.jdbc.JdbcStatement, true",
        "org.h2.jdbc.JdbcPreparedStatement, true",
        "org.h2.jdbc.JdbcConnection, true",
        "org.apache.tomcat.util.net.jsse.JSSEKeyManager, true",
        "com.shop.Door, true",
        "java.lang.String, false",
        "java.util.HashMap, false",
        "org.apache.catalina.core.StandardContext, false",
    })
    void implementations_of_the_interfaces_are_seen_and_others_mostly_not(String name, boolean expected)
            throws IOException {
        assertEquals(expected, ClassShape.mayMatch(classFile(name)));
    }

    @Property(tries = 2_000)
    void garbage_is_no_class_and_no_exception(@ForAll byte[] garbage) {
        assertFalse(ClassShape.mayMatch(garbage));
    }

    @Property(tries = 2_000)
    void a_damaged_class_file_is_no_exception(
            @ForAll @IntRange(min = 0, max = 20_000) int length,
            @ForAll @IntRange(min = 0, max = 2_000) int at,
            @ForAll byte value) throws IOException {
        byte[] file = classFile("org.h2.jdbc.JdbcStatement");
        byte[] damaged = Arrays.copyOf(file, Math.min(length, file.length));
        if (at < damaged.length) {
            damaged[at] = value;
        }
        assertDoesNotThrow(() -> ClassShape.mayMatch(damaged));
    }
}
