package dev.loadline.agent.methods;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.loadline.agent.testing.LaterClassFile;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class MethodPlacerTest {
    /** With no class that is loaded, so that nothing is woven but what a test gives it. */
    private static final Instrumentation NOTHING = (Instrumentation) Proxy.newProxyInstance(
            MethodPlacerTest.class.getClassLoader(),
            new Class<?>[] {Instrumentation.class},
            (proxy, method, arguments) -> method.getReturnType() == Class[].class ? new Class<?>[0] : null);

    @Test
    void methods_of_a_later_jdk_have_their_probes() throws Exception {
        MethodPlacer placer = new MethodPlacer(NOTHING);
        placer.place(MethodPlacerTest.class.getName() + ".*");
        byte[] classFile = LaterClassFile.of(MethodPlacerTest.class);
        byte[] woven = placer.weave(classFile);
        assertNotNull(woven, "it has methods that are asked for");
        assertEquals(LaterClassFile.VERSION, LaterClassFile.versionOf(woven));
        assertFalse(Arrays.equals(classFile, woven));
    }
}
