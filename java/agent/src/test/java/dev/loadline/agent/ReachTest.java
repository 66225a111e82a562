package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.ServerProbes;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Ownership;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.implementation.MethodCall;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReachTest {
    /** Finds the agent's classes for who asks from outside, as long as that is allowed. */
    private static final class Bundles extends ClassLoader {
        private boolean asksFromOutside = true;

        Bundles() {
            super(ReachTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("dev.loadline.") && !asksFromOutside) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }

        /** Calls a probe from a class of its own. */
        Object probe() throws Exception {
            asksFromOutside = false;
            byte[] caller = new ByteBuddy().subclass(Object.class).name("bundle.Caller")
                    .defineMethod("probe", int.class, Visibility.PUBLIC, Ownership.STATIC)
                    .intercept(MethodCall.invoke(ServerProbes.class.getMethod("tlsEnter"))).make().getBytes();
            return defineClass("bundle.Caller", caller, 0, caller.length).getMethod("probe").invoke(null);
        }
    }

    @Test
    void what_a_loader_says_to_those_outside_holds_for_its_classes_too() throws Exception {
        List<String> warnings = new ArrayList<>();
        Bundles asked = new Bundles();
        assertTrue(new Reach(warnings::add).of(asked));
        assertEquals(0, asked.probe());
        assertEquals(List.of(), warnings);
        var missing = assertThrows(InvocationTargetException.class, () -> new Bundles().probe());
        assertEquals(NoClassDefFoundError.class, missing.getCause().getClass());
    }

    @Test
    void classes_of_a_loader_that_answers_nobody_get_none() {
        List<String> warnings = new ArrayList<>();
        Bundles closed = new Bundles();
        closed.asksFromOutside = false;
        assertEquals(false, new Reach(warnings::add).of(closed));
        assertTrue(warnings.get(0).contains("bootdelegation"), warnings.toString());
    }

    @ParameterizedTest
    @CsvSource({"jboss-modules.jar, '', dev.loadline.agent", "jboss-modules.jar, org.other, 'org.other,dev.loadline.agent'", "shop.jar, '', ''"})
    void modules_of_jboss_are_made_to_see_them(String command, String before, String after) {
        String was = System.getProperty("sun.java.command");
        try {
            System.setProperty("sun.java.command", "/opt/wildfly/" + command + " -mp modules");
            System.setProperty("jboss.modules.system.pkgs", before);
            Reach.prepare();
            assertEquals(after, System.getProperty("jboss.modules.system.pkgs"));
        } finally {
            System.setProperty("sun.java.command", was);
            System.clearProperty("jboss.modules.system.pkgs");
        }
    }
}
