package dev.loadline.agent.hooks;

import dev.loadline.agent.Modules;
import java.lang.instrument.Instrumentation;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;

/** All hooks of a recording: finds where they go, puts them in, and takes them out. */
public final class Hooks {
    private static final String HERE = "dev.loadline.agent.hooks.";
    private static final String ACCEPTOR = "org.apache.tomcat.util.net.Acceptor";
    private static final String HOUSEKEEPER = "com.zaxxer.hikari.pool.HikariPool$HouseKeeper";

    /** What the JDK makes of a {@code Runnable} that it schedules. */
    private static final String RUNNABLE = "java.util.concurrent.Executors$RunnableAdapter";
    /** A pool may have been given an executor to share; one with more in its queue is not searched. */
    private static final int MAX_QUEUE_OF_OTHERS = 16;

    private final Instrumentation instrumentation;
    private final Consumer<String> warn;
    /** By what they are in; null for what cannot be hooked. */
    private final Map<Object, Hook> hooks = new IdentityHashMap<>();

    /** @param warn is told, a line each, of what cannot be hooked */
    public Hooks(Instrumentation instrumentation, Consumer<String> warn) {
        this.instrumentation = instrumentation;
        this.warn = warn;
        Modules.open(instrumentation, ThreadPoolExecutor.class, Hooks.class.getModule());
    }

    /** Puts hooks where there are none yet: a server may start while it is recorded. */
    public void refresh() {
        for (Thread thread : Threads.all()) {
            try {
                look(Threads.task(thread));
            } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
                warn.accept("hooks: what " + thread.getName() + " runs cannot be seen: " + e);
            }
        }
        for (Hook hook : hooks.values()) {
            if (hook != null) {
                hook.refresh();
            }
        }
    }

    private void look(Object task) throws ReflectiveOperationException {
        if (task == null) {
            return;
        }
        for (Class<?> type = task.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(ACCEPTOR)) {
                open(type);
                Object endpoint = Fields.get(task, "endpoint");
                hook(endpoint, "tomcat.", "TomcatConnector");
                return;
            }
        }
        if (task.getClass().getName().equals("java.util.concurrent.ThreadPoolExecutor$Worker")) {
            Object executor = Fields.get(task, "this$0");
            if (executor instanceof ScheduledThreadPoolExecutor) {
                housekeeper((ScheduledThreadPoolExecutor) executor);
            }
        }
    }

    /** HikariCP's housekeeper waits in the queue of an executor of its own. */
    private void housekeeper(ScheduledThreadPoolExecutor executor) throws ReflectiveOperationException {
        boolean its = executor.getThreadFactory().getClass().getName().startsWith("com.zaxxer.hikari.");
        if (!its && executor.getQueue().size() > MAX_QUEUE_OF_OTHERS) {
            return;
        }
        for (Object queued : executor.getQueue().toArray()) {
            // Whoever shares the executor may have decorated what is its own, or schedule what is no Runnable.
            Object callable = queued instanceof FutureTask ? Fields.get(queued, "callable") : null;
            boolean isRunnable = callable != null && callable.getClass().getName().equals(RUNNABLE);
            Object task = isRunnable ? Fields.get(callable, "task") : null;
            if (task != null && task.getClass().getName().equals(HOUSEKEEPER)) {
                open(task.getClass());
                hook(Fields.get(task, "this$0"), "hikari.", "HikariPoolHook");
            }
        }
    }

    private void hook(Object place, String ownPackage, String className) {
        if (hooks.containsKey(place)) {
            return;
        }
        Hook hook = null;
        try {
            Neighbour neighbour = Neighbour.of(place.getClass(), HERE + ownPackage);
            Class<?> type = neighbour.loadClass(HERE + ownPackage + className);
            hook = (Hook) type.getMethod("into", Object.class, Opener.class).invoke(null, place, (Opener) this::open);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            warn.accept(place.getClass().getName() + " is of a version that hooks do not know: " + cause);
        }
        hooks.put(place, hook);
    }

    private void open(Class<?> type) {
        Modules.open(instrumentation, type, Hooks.class.getModule());
    }

    /** Takes all hooks out. */
    public void remove() {
        for (Hook hook : hooks.values()) {
            try {
                if (hook != null) {
                    hook.remove();
                }
            } catch (RuntimeException | LinkageError e) {
                warn.accept("a hook stays: " + e); // it delegates, and tells nobody
            }
        }
        hooks.clear();
    }

    /** For the header's info: JSON that says that hooks are the source, and codes of what they do not see. */
    public String coverage() {
        Set<String> unseen = new LinkedHashSet<>(List.of("sql", "calls", "pools"));
        boolean server = false;
        for (Hook hook : hooks.values()) {
            if (hook != null) {
                server |= hook.isServer();
                unseen.addAll(hook.unseen());
            }
        }
        if (!server) {
            unseen.add("server");
        }
        return "\"hooks\", \"unseen\": [\"" + String.join("\", \"", unseen) + "\"]";
    }

    /** Opens a class's package to the hooks, if it is in a named module. */
    public interface Opener {
        void open(Class<?> type);
    }
}
