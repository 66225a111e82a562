package dev.loadline.agent.methods;

import dev.loadline.agent.AnyVersion;
import dev.loadline.agent.Reach;
import dev.loadline.agent.boot.Filters;
import dev.loadline.agent.boot.MethodNames;
import dev.loadline.agent.probes.Retransformation;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassWriter;

/**
 * The probes in methods of this JVM: placed into classes as they load, and into those that are loaded where they are asked
 * for later, which redefines these. They stay, and cost a read of one field while nobody records.
 */
public final class MethodPlacer {
    private static final String OWN_PACKAGE = "dev/loadline/agent/";
    private static final int MAX_WARNINGS = 8;

    private final Instrumentation instrumentation;
    private final ClassFileTransformer transformer = new Transformer();
    private final Reach reach = new Reach(this::warn);
    /** Filters by their text: a method that one of them takes has a probe. */
    private final Map<String, Filters> asked = new HashMap<>();

    private final List<Filters> filters = new CopyOnWriteArrayList<>();
    /** Numbers of methods by name: one of each name, however many loaders have its class. */
    private final Map<String, Integer> numbers = new HashMap<>();
    /** Names of classes that hold probes. */
    private final Set<String> probed = ConcurrentHashMap.newKeySet();

    private final List<String> warnings = new ArrayList<>();

    /** Nothing is placed yet. */
    public MethodPlacer(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Places probes into methods that these filters take, too; the text has a filter a line. */
    public void place(String text) {
        Filters taking = Filters.of(text, Filters.SEPARATOR);
        if (taking == null || asked.putIfAbsent(text, taking) != null) {
            return;
        }
        filters.add(taking);
        if (asked.size() == 1) {
            instrumentation.addTransformer(transformer, true);
        }
        List<Class<?>> candidates = new ArrayList<>();
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getClassLoader() != null && taking.mayTakeOf(loaded.getName()) && instrumentation.isModifiableClass(loaded)) {
                candidates.add(loaded);
            }
        }
        Retransformation.of(instrumentation, candidates, this::warn);
    }

    /** Whether all that these filters take, a line each, has a probe, as far as that follows from their text. */
    public boolean covers(String text) {
        return asked.keySet().stream().anyMatch(placed -> covers(placed, text));
    }

    /** They do if they only leave out more, or take a part of what others take that leave out nothing. */
    static boolean covers(String placed, String text) {
        if (text.equals(placed)) {
            return true;
        }
        String further = text.startsWith(placed + Filters.SEPARATOR) ? text.substring(placed.length() + 1) : null;
        if (further != null && further.lines().allMatch(MethodPlacer::leavesOut)) {
            return true;
        }
        List<String> all = placed.lines().toList();
        return all.stream().noneMatch(MethodPlacer::leavesOut)
                && text.lines().allMatch(line -> leavesOut(line) || all.contains(line));
    }

    private static boolean leavesOut(String filter) {
        return filter.startsWith("!");
    }

    /** Takes them out again: the classes are as they were, apart from what other agents do. */
    public void remove() {
        instrumentation.removeTransformer(transformer);
        asked.clear();
        filters.clear();
        List<Class<?>> changed = new ArrayList<>();
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (probed.contains(loaded.getName()) && instrumentation.isModifiableClass(loaded)) {
                changed.add(loaded);
            }
        }
        probed.clear();
        Retransformation.of(instrumentation, changed, this::warn);
    }

    /** What could not be probed so far, a line each. */
    public List<String> warnings() {
        synchronized (warnings) {
            return List.copyOf(warnings);
        }
    }

    private void warn(String line) {
        synchronized (warnings) {
            if (warnings.size() < MAX_WARNINGS && !warnings.contains(line)) {
                warnings.add(line);
            }
        }
    }

    private int number(String method) {
        for (Filters one : filters) {
            if (one.takesMethod(method)) {
                return numberOf(method);
            }
        }
        return -1;
    }

    private int numberOf(String method) {
        synchronized (numbers) {
            Integer known = numbers.get(method);
            if (known != null) {
                return known;
            }
            int number = numbers.size();
            if (number >= MethodNames.MOST) {
                warn("methods beyond " + MethodNames.MOST + " have no probes: narrow the filters");
                return -1;
            }
            numbers.put(method, number);
            MethodNames.put(number, method);
            return number;
        }
    }

    private boolean mayTakeOf(String className) {
        for (Filters one : filters) {
            if (one.mayTakeOf(className)) {
                return true;
            }
        }
        return false;
    }

    /** The class file with probes; null if no method is wanted. */
    byte[] weave(byte[] classFile) {
        ClassReader reader = AnyVersion.of(classFile);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        ProbedClass type = new ProbedClass(writer, this::number);
        reader.accept(type, 0);
        return type.isProbed() ? writer.toByteArray() : null;
    }

    /** Called by the JVM for each class that is loaded or retransformed. */
    private final class Transformer implements ClassFileTransformer {
        @Override
        public byte[] transform(
                Module module,
                ClassLoader loader,
                String internalName,
                Class<?> redefined,
                ProtectionDomain domain,
                byte[] classFile) {
            if (loader == null || internalName == null || internalName.startsWith(OWN_PACKAGE)) {
                return null;
            }
            String name = internalName.replace('/', '.');
            if (!mayTakeOf(name) || !reach.of(loader)) {
                return null;
            }
            try {
                byte[] woven = weave(classFile);
                if (woven != null) {
                    probed.add(name);
                }
                return woven;
            } catch (Throwable e) { // whatever it is, the class must load, as it is
                warn("methods of " + name + " cannot be probed: " + e);
                return null;
            }
        }
    }
}
