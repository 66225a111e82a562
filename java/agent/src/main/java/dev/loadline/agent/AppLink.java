package dev.loadline.agent;

import dev.loadline.agent.boot.AppProbes;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * Gives every copy of {@code dev.loadline.Loadline} in the program (one a class loader) a recorder,
 * and takes it away again. No class is redefined.
 */
final class AppLink {
    private static final String API = "dev.loadline.Loadline";
    private static final String RECORDER = "dev.loadline.AgentRecorder";

    private final Instrumentation instrumentation;
    /** What is told of copies that cannot be recorded, and has been said so far; guarded by itself. */
    private final Set<String> problems = new LinkedHashSet<>();

    private Consumer<String> told = unused -> {};
    /** No lock is held while a copy is touched: another thread may be initialising it, and come here from there. */
    private final List<WeakReference<Class<?>>> linked = new CopyOnWriteArrayList<>();
    private volatile boolean over;

    private AppLink(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Links the copies that are loaded, and those to come. */
    static AppLink connect(Instrumentation instrumentation) {
        AppLink link = new AppLink(instrumentation);
        AppProbes.introduce(link::link);
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getName().equals(API)) {
                link.link(loaded);
            }
        }
        return link;
    }

    /** Tells from now on what cannot be recorded, and what could not so far. */
    void tell(Consumer<String> whom) {
        synchronized (problems) {
            told = whom;
            problems.forEach(whom);
        }
    }

    private void problem(String text) {
        synchronized (problems) {
            if (problems.add(text)) {
                told.accept(text);
            }
        }
    }

    void disconnect() {
        over = true;
        AppProbes.introduce(null);
        for (WeakReference<Class<?>> reference : linked) {
            Class<?> api = reference.get();
            if (api != null) {
                set(api, null);
            }
        }
        linked.clear();
    }

    private void link(Class<?> api) {
        if (over) {
            return;
        }
        try {
            Modules.open(instrumentation, api, AppLink.class.getModule());
            Constructor<?> constructor = recorder(api).getDeclaredConstructor();
            constructor.setAccessible(true);
            linked.removeIf(copy -> copy.get() == null);
            linked.add(new WeakReference<>(api));
            set(api, constructor.newInstance());
            if (over) { // it may have been too late for disconnect()
                set(api, null);
            }
        } catch (IOException | ReflectiveOperationException | LinkageError | RuntimeException e) {
            problem(API + " of " + api.getClassLoader() + " cannot be recorded: " + e);
        }
    }

    /** The recorder's class beside this copy, which an earlier recording may have defined. */
    private static Class<?> recorder(Class<?> api) throws IOException, ReflectiveOperationException {
        try {
            return MethodHandles.privateLookupIn(api, MethodHandles.lookup()).defineClass(ClassBytes.of(RECORDER));
        } catch (LinkageError defined) {
            return Class.forName(RECORDER, true, api.getClassLoader());
        }
    }

    private void set(Class<?> api, Object recorder) {
        try {
            Field field = api.getDeclaredField("recorder");
            field.setAccessible(true);
            field.set(null, recorder);
        } catch (ReflectiveOperationException | RuntimeException e) {
            problem(API + " of " + api.getClassLoader() + " is of another version: " + e);
        }
    }
}
