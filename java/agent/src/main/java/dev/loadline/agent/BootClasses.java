package dev.loadline.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.internal.misc.Unsafe;

/**
 * Puts the classes that probes call into the boot loader, where every class sees them.
 *
 * <p>They are defined one by one: to append a jar to the boot class path would make the JVM print
 * a warning about class data sharing. The agent's own loader asks the boot loader first, so both
 * see the same classes, provided that this ran before the first of them was used.
 */
final class BootClasses {
    /** Each class of {@code dev.loadline.agent.boot}; {@code Native} first, as it needs no access to the JDK. */
    static final List<String> NAMES = List.of(
            "Native", "Type", "Arrays", "Faults", "Slot", "Session", "Strings", "Strings$Entry", "Strings$Tail", "Identities",
            "Identities$Entry", "SqlText", "PoolsSeen", "PoolsSeen$Pool", "SqlCache", "SqlCache$Entry", "Numbered", "Emit", "AppProbes", "ThreadProbes",
            "Visit", "ServerProbes", "TaskProbes", "TaskProbes$Task", "ServletApi", "ServletProbes",
            "ServletProbes$Completion", "ServletProbes$Apis", "JdbcProbes", "JdbcProbes$Outermost", "CallProbes", "CallProbes$Call",
            "AskProbes", "AskProbes$Asked", "AskProbes$Answer", "AskProbes$Awaited", "GrpcProbes", "GrpcProbes$Client", "StreamProbes", "Resumption", "HandshakeProbes",
            "ExchangeProbes", "HelidonProbes", "HelidonProbes$Api", "HelidonProbes$Apis", "IiopProbes", "Filters",
            "MethodNames", "MethodScope", "Calls", "MethodProbes", "Rehearsal", "Rehearsal$FullThread", "Rehearsal$Whole");

    private static final String PACKAGE = "dev/loadline/agent/boot/";
    private static boolean defined;

    private BootClasses() {}

    static synchronized void define(Instrumentation instrumentation) throws IOException, ClassNotFoundException {
        if (defined) {
            return;
        }
        export(instrumentation, BootClasses.class.getModule());
        Module boot = null;
        for (String name : NAMES) {
            Class<?> type = Definer.define(PACKAGE + name, ClassBytes.of(PACKAGE + name));
            if (boot == null) {
                boot = type.getModule();
                export(instrumentation, boot);
            }
        }
        // Nothing may have to be loaded or initialised from inside a probe.
        for (String name : NAMES) {
            Class.forName((PACKAGE + name).replace('/', '.'), true, null);
        }
        defined = true;
    }

    private static void export(Instrumentation instrumentation, Module to) {
        Set<Module> target = Set.of(to);
        instrumentation.redefineModule(
                Object.class.getModule(),
                Set.of(),
                Map.of("jdk.internal.misc", target),
                Map.of("java.lang", target),
                Set.of(),
                Map.of());
    }

    /** Apart, so that it is linked after the export. */
    private static final class Definer {
        static Class<?> define(String name, byte[] bytes) {
            return Unsafe.getUnsafe().defineClass(name, bytes, 0, bytes.length, null, null);
        }
    }
}
