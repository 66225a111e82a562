package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.policy.Delay;
import java.beans.Introspector;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** What a guard says to who looks from outside. */
class FiguresTest {
    @Test
    void everyAttributeOfJmxIsAmongThemByItsName() throws Exception {
        Guard guard = new Guard("figures", GuardSettings.of("mode=observe; objective=p99=1s"));
        guard.refused(Refused.REPLAY);
        Map<String, Object> said = Figures.of(guard);
        var names = new TreeSet<String>();
        for (Method method : GuardMXBean.class.getMethods()) {
            if (method.getParameterCount() == 0) {
                String name = Introspector.decapitalize(method.getName().replaceFirst("^(get|is)", ""));
                names.add(name);
                Object value = method.invoke(guard.figures());
                assertEquals(value, said.get(name), name);
            }
        }
        names.add("name");
        names.add("guards");
        assertEquals(names, new TreeSet<>(said.keySet()));
        assertEquals(1L, said.get("refusedReplays"));
        assertEquals("observe", said.get("mode"));
    }

    @Test
    void theyAreASystemPropertyWhileItRuns() {
        String key = Published.PREFIX + "published";
        Guard guard = new Guard("published", GuardSettings.of("cpus=1"));
        assertNull(System.getProperty(key));
        guard.start();
        assertTrue(System.getProperty(key).startsWith("{\"name\":\"published\",\"guards\":\"connections\",\"mode\":\"enforce\""), System.getProperty(key));
        guard.refused(Refused.NOT_TLS);
        guard.passed(System.nanoTime(), new Measured(new Delay.Tick(0.25, 1, 0, 0, 0, 0, 0, Double.NaN), "test", 0, 0));
        assertTrue(System.getProperty(key).contains("\"refusedNotTls\":1,"), System.getProperty(key));
        guard.close();
        assertFalse(System.getProperties().containsKey(key));
        guard.passed(System.nanoTime(), new Measured(new Delay.Tick(0.25, 1, 0, 0, 0, 0, 0, Double.NaN), "test", 0, 0));
        assertFalse(System.getProperties().containsKey(key), "a tick that was late");
    }

    /** Two applications, each with a filter of the same name, or two servers in one process. */
    @Test
    void ofTwoGuardsOfOneNameTheSecondHasANumber() throws Exception {
        Guard first = new Guard("twice", GuardSettings.of("cpus=1; mode=observe"));
        Guard second = new Guard("twice", GuardSettings.of("cpus=1"));
        first.start();
        second.start();
        assertEquals("twice observe, twice 2 enforce", told());
        first.close();
        assertEquals("twice 2 enforce", told());
        Guard third = new Guard("twice", GuardSettings.of("cpus=1; mode=off"));
        third.start();
        assertEquals("twice off, twice 2 enforce", told());
        new Guard("twice", GuardSettings.of("cpus=1")).close();
        assertEquals("twice off, twice 2 enforce", told(), "one that never started took another's away");
        second.close();
        third.close();
        assertEquals("", told());
    }

    /** Names and modes, by JMX; each as the system property has it. */
    private static String told() throws Exception {
        var jmx = ManagementFactory.getPlatformMBeanServer();
        var found = new TreeMap<String, String>();
        for (ObjectName bean : jmx.queryNames(new ObjectName("dev.loadline:type=Guard,name=\"twice*\""), null)) {
            String name = ObjectName.unquote(bean.getKeyProperty("name"));
            String mode = (String) jmx.getAttribute(bean, "Mode");
            String property = System.getProperty(Published.PREFIX + name);
            assertTrue(property.startsWith("{\"name\":\"" + name + "\",") && property.contains("\"mode\":\"" + mode + "\""), property);
            found.put(name, mode);
        }
        assertEquals(found.size(), System.getProperties().stringPropertyNames().stream().filter(p -> p.startsWith(Published.PREFIX + "twice")).count());
        return found.entrySet().stream().map(e -> e.getKey() + " " + e.getValue()).collect(Collectors.joining(", "));
    }

    @Test
    void whateverTheyHoldIsJson() {
        var odd = new LinkedHashMap<String, Object>();
        odd.put("a", "say \"ü\"\\\n");
        odd.put("b", Double.NaN);
        odd.put("c", 0.5);
        odd.put("d", true);
        assertEquals("{\"a\":\"say \\u0022\\u00fc\\u0022\\u005c\\u000a\",\"b\":null,\"c\":0.5,\"d\":true}", Published.json(odd));
    }
}
