package dev.loadline.agent.probes;

import dev.loadline.agent.Reach;
import dev.loadline.agent.boot.ServletProbes;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The probes of this JVM: placed into classes as they load and, if asked, into those that are loaded.
 *
 * <p>To place them into loaded classes, or to take them out again, redefines these classes. Up to JDK
 * 21 the first time in a JVM that was started without an agent makes HotSpot throw all compiled code
 * away (JDK-8324241), and on any JDK what they touch is compiled anew. A probe that stays costs a
 * read of one field while nobody records. So they are placed once and stay.
 */
public final class Probes {
    private static final String OWN_PACKAGE = "dev/loadline/agent/";
    private static final int MAX_WARNINGS = 8;

    private final Instrumentation instrumentation;
    private final Rules rules = new Rules();
    private final Weaver weaver = new Weaver();
    private final Reach reach = new Reach(this::warn);
    private final ClassFileTransformer transformer = new Transformer();
    /** Names of classes that hold probes. */
    private final Set<String> probed = ConcurrentHashMap.newKeySet();
    /** What could not be probed, a line each; kept for every recording to tell. */
    private final List<String> warnings = new ArrayList<>();

    private volatile Consumer<String> classLoaded = name -> {};

    /** Nothing is placed yet. */
    public Probes(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Places them into classes that load from now on, and into those that are loaded. */
    public void place() {
        instrumentation.addTransformer(transformer, true);
        Class<?>[] all = instrumentation.getAllLoadedClasses();
        Shapes shapes = new Shapes(all);
        List<Class<?>> loaders = new ArrayList<>();
        List<Class<?>> candidates = new ArrayList<>();
        for (Class<?> loaded : all) {
            if (rules.isNamed(loaded.getName()) || shapes.fits(loaded)) {
                if (instrumentation.isModifiableClass(loaded)) {
                    (Rules.isLoader(loaded.getName()) ? loaders : candidates).add(loaded);
                }
            }
        }
        Retransformation.of(instrumentation, loaders, this::warn); // first: they are asked about the others
        Retransformation.of(instrumentation, candidates, this::warn);
    }

    /** Removes them: the classes are again as they were, apart from what other agents do. */
    public void remove() {
        instrumentation.removeTransformer(transformer);
        List<Class<?>> changed = new ArrayList<>();
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (probed.contains(loaded.getName()) && instrumentation.isModifiableClass(loaded)) {
                changed.add(loaded);
            }
        }
        Retransformation.of(instrumentation, changed, this::warn);
    }

    /** Who is told the names of probed classes that load from now on. */
    public void onClassLoaded(Consumer<String> to) {
        classLoaded = to;
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
            if (internalName == null || internalName.startsWith(OWN_PACKAGE)) {
                return null;
            }
            String name = internalName.replace('/', '.');
            List<Rule> own = rules.of(name);
            boolean shaped = ClassShape.mayMatch(classFile);
            if ((own.isEmpty() && !shaped) || !reach.of(loader)) {
                return null;
            }
            try {
                byte[] woven = weaver.weave(name, loader, redefined, classFile, own, shaped, Probes.this::warn);
                if (woven != null) {
                    probed.add(name);
                    if (own.stream().anyMatch(Rule::isOfRequests)) {
                        ServletProbes.serverTells();
                    }
                    if (redefined == null) {
                        classLoaded.accept(name);
                    }
                }
                return woven;
            } catch (Throwable e) { // whatever it is, the class must load, as it is
                warn(name + " cannot be probed: " + e);
                return null;
            }
        }
    }
}
