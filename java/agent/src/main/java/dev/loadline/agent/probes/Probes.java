package dev.loadline.agent.probes;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Places the probes into loaded classes and into those that load later, and removes them all. */
public final class Probes {
    private static final String OWN_PACKAGE = "dev/loadline/agent/";

    private final Instrumentation instrumentation;
    private final Rules rules;
    private final Consumer<String> warn;
    private final Consumer<String> classLoaded;
    private final Weaver weaver = new Weaver();
    private final ClassFileTransformer transformer = new Transformer();
    /** Names of classes that hold probes. */
    private final Set<String> probed = ConcurrentHashMap.newKeySet();

    /**
     * @param levels bits of the levels wanted
     * @param warn is told, a line each, of probes that could not be placed
     * @param classLoaded is told the names of probed classes that load later
     */
    public Probes(
            Instrumentation instrumentation, int levels, Consumer<String> warn, Consumer<String> classLoaded) {
        this.instrumentation = instrumentation;
        this.rules = new Rules(levels);
        this.warn = warn;
        this.classLoaded = classLoaded;
    }

    /** Places them. */
    public void place() {
        instrumentation.addTransformer(transformer, true);
        Shapes shapes = rules.wantsShapes() ? new Shapes() : null;
        List<Class<?>> candidates = new ArrayList<>();
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (rules.isNamed(loaded.getName()) || shapes != null && shapes.fits(loaded)) {
                if (instrumentation.isModifiableClass(loaded)) {
                    candidates.add(loaded);
                }
            }
        }
        retransform(candidates);
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
        retransform(changed);
    }

    private void retransform(List<Class<?>> classes) {
        if (classes.isEmpty()) {
            return;
        }
        try {
            instrumentation.retransformClasses(classes.toArray(Class<?>[]::new));
        } catch (UnmodifiableClassException | LinkageError | InternalError together) {
            // One of them cannot be changed, and took the others with it: find out which.
            for (Class<?> one : classes) {
                try {
                    instrumentation.retransformClasses(one);
                } catch (UnmodifiableClassException | LinkageError | InternalError alone) {
                    warn.accept(one.getName() + " cannot be probed: " + alone);
                }
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
            boolean shaped = rules.wantsShapes() && ClassShape.mayMatch(classFile);
            if (own.isEmpty() && !shaped) {
                return null;
            }
            try {
                byte[] woven = weaver.weave(name, loader, redefined, classFile, own, shaped, warn);
                if (woven != null) {
                    probed.add(name);
                    if (redefined == null) {
                        classLoaded.accept(name);
                    }
                }
                return woven;
            } catch (Throwable e) { // whatever it is, the class must load, as it is
                warn.accept(name + " cannot be probed: " + e);
                return null;
            }
        }
    }
}
