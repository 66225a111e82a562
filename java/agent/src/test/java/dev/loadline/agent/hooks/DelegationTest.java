package dev.loadline.agent.hooks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;

/** What stands before something else must pass on all that it can be asked. */
class DelegationTest {
    @Test
    void an_engine_passes_on_whatever_an_engine_can_be_asked() throws Exception {
        Class<?> engine = Class.forName("dev.loadline.agent.hooks.undertow.RecordedEngine");
        // The convenient forms of wrap and unwrap call those that are overridden.
        assertEquals(List.of(), missing(SSLEngine.class, engine, Set.of("wrap", "unwrap")));
    }

    @Test
    void a_pool_passes_on_whatever_a_pool_can_be_asked() throws Exception {
        Class<?> pool = Class.forName("dev.loadline.agent.hooks.tomcat.RecordedPool");
        assertEquals(List.of(), missing(ThreadPoolExecutor.class, pool, Set.of()));
    }

    private static List<String> missing(Class<?> type, Class<?> before, Set<String> except) {
        List<String> missing = new ArrayList<>();
        for (Method method : type.getDeclaredMethods()) {
            int modifiers = method.getModifiers();
            boolean asked = Modifier.isPublic(modifiers) && !Modifier.isFinal(modifiers) && !Modifier.isStatic(modifiers);
            if (asked && !method.isSynthetic() && !except.contains(method.getName())) {
                try {
                    before.getDeclaredMethod(method.getName(), method.getParameterTypes());
                } catch (NoSuchMethodException e) {
                    missing.add(method.toString());
                }
            }
        }
        return missing;
    }
}
