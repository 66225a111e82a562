package dev.loadline.agent.hooks;

import dev.loadline.agent.Modules;
import java.lang.instrument.Instrumentation;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** All hooks of a recording: puts them where {@link Places} finds that they go, and takes them out. */
public final class Hooks {
    private static final String HERE = "dev.loadline.agent.hooks.";

    private final Consumer<String> warn;
    private final Access access;
    /** What has a hook, needs none, or cannot have one. */
    private final Set<Object> known = Collections.newSetFromMap(new IdentityHashMap<>());
    /** What they are in, in the order in which they were put there. */
    private final Map<Hook, Object> hooks = new LinkedHashMap<>();
    private final Places places;

    /** @param warn is told, a line each, of what cannot be hooked */
    public Hooks(Instrumentation instrumentation, Consumer<String> warn) {
        this.warn = warn;
        access = new Access() {
            @Override
            public void open(Class<?> type) {
                Modules.open(instrumentation, type, Hooks.class.getModule());
            }

            @Override
            public Class<?> beside(Class<?> type, String ownPackage, String className) throws ClassNotFoundException {
                return Neighbour.of(type, HERE + ownPackage).loadClass(HERE + ownPackage + className);
            }
        };
        places = new Places(access, this::hook);
    }

    /** Puts hooks where there are none yet: a server may start while it is recorded. */
    public void refresh() {
        places.look(warn);
        hooks.forEach((hook, place) -> {
            try {
                hook.refresh();
            } catch (RuntimeException | LinkageError e) {
                warn.accept("hooks: parts of " + place.getClass().getName() + " cannot be seen: " + e);
            }
        });
    }

    private void hook(Object place, String ownPackage, String className) {
        if (!known.add(place)) {
            return;
        }
        try {
            Class<?> type = access.beside(place.getClass(), ownPackage, className);
            Hook hook = (Hook) type.getMethod("into", Object.class, Access.class).invoke(null, place, access);
            if (hook != null) {
                hooks.put(hook, place);
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            warn.accept(place.getClass().getName() + " is of a version that hooks do not know: " + cause);
        }
    }

    /**
     * Takes all hooks out, those first that were put in first: where several stand in one row, as those of Tomcat's connectors do in its pipeline, none of
     * them then sees another one behind it than it was compiled for.
     */
    public void remove() {
        for (Hook hook : hooks.keySet()) {
            try {
                hook.remove();
            } catch (RuntimeException | LinkageError e) {
                warn.accept("a hook stays: " + e); // it delegates, and tells nobody
            }
        }
        hooks.clear();
        known.clear();
    }

    /** For the header's info: JSON that says that hooks are the source, and codes of what they do not see. */
    public String coverage() {
        Set<String> unseen = new LinkedHashSet<>(List.of("sql", "calls", "pools"));
        boolean server = false;
        for (Hook hook : hooks.keySet()) {
            server |= hook.isServer();
            unseen.addAll(hook.unseen());
        }
        if (!server) {
            unseen.add("server");
        }
        return "\"hooks\", \"unseen\": [\"" + String.join("\", \"", unseen) + "\"]";
    }

    /** What hooks ask of who puts them in. */
    public interface Access {
        /** Opens a class's package to the hooks, if it is in a named module. */
        void open(Class<?> type);

        /** A class of one of the hooks' packages, defined beside another one, which may be of another loader than the hook's. */
        Class<?> beside(Class<?> type, String ownPackage, String className) throws ClassNotFoundException;
    }
}
