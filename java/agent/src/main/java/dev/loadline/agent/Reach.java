package dev.loadline.agent;

import dev.loadline.agent.boot.Faults;
import dev.loadline.agent.boot.IiopProbes;
import dev.loadline.agent.boot.JdbcProbes;
import dev.loadline.agent.boot.MethodProbes;
import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.boot.ThreadProbes;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Consumer;

/**
 * Whether classes see what probes call, which is the boot loader's. Most loaders ask that one; those of JBoss Modules and of OSGi
 * pass on only the packages that they are told to. A probe in a class that does not see it would make its method fail.
 */
public final class Reach {
    private static final String PACKAGE = "dev.loadline.agent";
    /** Packages that every module of JBoss sees, with commas between them; read once, as it starts. */
    private static final String OF_JBOSS = "jboss.modules.system.pkgs";

    private final Consumer<String> warn;
    private final Map<ClassLoader, Boolean> known = Collections.synchronizedMap(new WeakHashMap<>());

    /** @param warn is told, a line for each kind of loader, whose classes get no probes */
    public Reach(Consumer<String> warn) {
        this.warn = warn;
    }

    /** Before the program begins: JBoss' modules are to see the package. */
    static void prepare() {
        if (System.getProperty("sun.java.command", "").contains("jboss-modules")) {
            String others = System.getProperty(OF_JBOSS, "");
            System.setProperty(OF_JBOSS, others.isEmpty() ? PACKAGE : others + "," + PACKAGE);
        }
    }

    /** Whether the classes of this loader see it. */
    public boolean of(ClassLoader loader) {
        if (loader == null) {
            return true;
        }
        // Not under a lock: who asks a loader may be asked about another one in the midst of it.
        Boolean sees = known.get(loader);
        if (sees == null) {
            sees = sees(loader);
            known.put(loader, sees);
            if (!sees) {
                warn.accept("classes of " + loader.getClass().getName() + " do not see the agent's and get no probes: "
                        + "-D" + OF_JBOSS + "=" + PACKAGE + " in JBoss, -Dorg.osgi.framework.bootdelegation=" + PACKAGE + ".* in OSGi");
            }
        }
        return sees;
    }

    /**
     * Asks for each of them. A loader of OSGi may answer us, who are outside of its bundles, and not a bundle's class (Felix does, and
     * so Karaf). What it has answered once the VM remembers for all of its classes.
     */
    private static boolean sees(ClassLoader loader) {
        // Not in a field: this class is there before the boot loader has them.
        List<Class<?>> called = List.of(
                Faults.class, IiopProbes.class, JdbcProbes.class, MethodProbes.class, ServerProbes.class, ThreadProbes.class);
        try {
            for (Class<?> one : called) {
                if (Class.forName(one.getName(), false, loader) != one) {
                    return false;
                }
            }
            return true;
        } catch (ClassNotFoundException | LinkageError | RuntimeException hidden) {
            return false; // whatever it is: a probe would meet it, too
        }
    }
}
