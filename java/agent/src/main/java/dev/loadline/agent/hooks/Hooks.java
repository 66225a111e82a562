package dev.loadline.agent.hooks;

import dev.loadline.agent.Modules;
import java.lang.instrument.Instrumentation;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.util.Collections;
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
    private static final String JETTYS_WORKER = "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner";
    private static final String JETTYS_CONNECTOR = "org.eclipse.jetty.server.AbstractConnector";
    private static final String JETTYS_HOUSEKEEPER = "org.eclipse.jetty.session.HouseKeeper$Runner";
    private static final String JDKS_DISPATCHER = "sun.net.httpserver.ServerImpl$Dispatcher";
    private static final String NETTYS_LOOP = "io.netty.channel.SingleThreadEventLoop";
    private static final String XNIOS_THREAD = "org.xnio.nio.WorkerThread";
    private static final String UNDERTOWS_LISTENER = "io.undertow.server.OpenListener";
    /** Fields from what a thread runs, or a selector watches, to what is looked for. */
    private static final int STEPS = 8;

    /** What the JDK makes of a {@code Runnable} that it schedules. */
    private static final String RUNNABLE = "java.util.concurrent.Executors$RunnableAdapter";
    /** A pool may have been given an executor to share; one with more in its queue is not searched. */
    private static final int MAX_QUEUE_OF_OTHERS = 16;

    private final Instrumentation instrumentation;
    private final Consumer<String> warn;
    /** By what they are in; null for what cannot be hooked. */
    private final Map<Object, Hook> hooks = new IdentityHashMap<>();
    /** What threads of Netty's run, and what XNIO's watch: it stays what it is, and is looked at once. */
    private final Set<Object> searched = Collections.newSetFromMap(new IdentityHashMap<>());

    /** @param warn is told, a line each, of what cannot be hooked */
    public Hooks(Instrumentation instrumentation, Consumer<String> warn) {
        this.instrumentation = instrumentation;
        this.warn = warn;
        Modules.open(instrumentation, ThreadPoolExecutor.class, Hooks.class.getModule());
    }

    /** Puts hooks where there are none yet: a server may start while it is recorded. */
    public void refresh() {
        Set<Object> looked = Collections.newSetFromMap(new IdentityHashMap<>()); // the threads of a pool may run one object
        for (Thread thread : Threads.all()) {
            try {
                if (thread.getClass().getName().equals(XNIOS_THREAD)) {
                    xniosThread(thread);
                } else {
                    Object task = Threads.task(thread);
                    if (looked.add(task)) {
                        look(task);
                    }
                }
            } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
                warn.accept("hooks: what " + thread.getName() + " runs cannot be seen: " + e);
            }
        }
        for (Map.Entry<Object, Hook> entry : hooks.entrySet()) {
            try {
                if (entry.getValue() != null) {
                    entry.getValue().refresh();
                }
            } catch (RuntimeException | LinkageError e) {
                warn.accept("hooks: parts of " + entry.getKey().getClass().getName() + " cannot be seen: " + e);
            }
        }
    }

    private void look(Object task) throws ReflectiveOperationException {
        if (task == null) {
            return;
        }
        String name = task.getClass().getName();
        if (Fields.isA(task, ACCEPTOR)) {
            open(task.getClass());
            hook(Fields.get(task, "endpoint"), "tomcat.", "TomcatConnector");
        } else if (name.equals(JETTYS_WORKER)) {
            open(task.getClass());
            jettysThreads(Fields.get(task, "this$0"));
        } else if (name.equals(JDKS_DISPATCHER)) {
            open(task.getClass());
            hook(Fields.get(task, "this$0"), "jdk.", "JdkServer");
        } else if (name.startsWith("io.netty.") && searched.add(task)) {
            Object loop = Fields.find(this::open, task, NETTYS_LOOP, STEPS, "io.netty.");
            if (loop != null) {
                hook(loop, "netty.", "NettyLoop");
            }
        } else if (name.equals("java.util.concurrent.ThreadPoolExecutor$Worker")) {
            Object executor = Fields.get(task, "this$0");
            if (executor instanceof ScheduledThreadPoolExecutor) {
                housekeepers((ScheduledThreadPoolExecutor) executor);
            }
        }
    }

    /** A thread of XNIO's watches, among others, ports, of which each has what makes its connections. */
    private void xniosThread(Thread thread) throws ReflectiveOperationException {
        open(thread.getClass());
        Selector selector = (Selector) Fields.get(thread, "selector");
        if (!selector.isOpen()) {
            return;
        }
        for (SelectionKey key : selector.keys()) {
            if (key.channel() instanceof ServerSocketChannel && key.attachment() != null && searched.add(key.attachment())) {
                Object listener = Fields.find(this::open, key.attachment(), UNDERTOWS_LISTENER, STEPS, "org.xnio.", "io.undertow.");
                if (listener != null) {
                    hook(listener, "undertow.", "UndertowListener");
                }
            }
        }
    }

    /** A pool of Jetty's knows for whom it keeps threads: connectors, for those that accept, and their selectors. */
    private void jettysThreads(Object pool) throws ReflectiveOperationException {
        Object budget = Fields.get(pool, "_budget");
        if (budget == null) {
            return; // it is stopped
        }
        for (Object lease : (Iterable<?>) Fields.get(budget, "leases")) {
            Object leasee = Fields.get(lease, "leasee");
            if (leasee.getClass().getName().equals("org.eclipse.jetty.server.ServerConnector$ServerConnectorManager")) {
                leasee = Fields.get(leasee, "this$0");
            }
            if (Fields.isA(leasee, JETTYS_CONNECTOR)) {
                open(leasee.getClass());
                hook(Fields.get(leasee, "_server"), "jetty.", "JettyServer");
            }
        }
    }

    /** HikariCP's housekeeper, and that of Jetty's sessions, wait in the queue of an executor of their own. */
    private void housekeepers(ScheduledThreadPoolExecutor executor) throws ReflectiveOperationException {
        String factory = executor.getThreadFactory().getClass().getName();
        boolean its = factory.startsWith("com.zaxxer.hikari.") || factory.startsWith("org.eclipse.jetty.");
        if (!its && executor.getQueue().size() > MAX_QUEUE_OF_OTHERS) {
            return;
        }
        for (Object queued : executor.getQueue().toArray()) {
            // Whoever shares the executor may have decorated what is its own, or schedule what is no Runnable.
            Object callable = queued instanceof FutureTask ? Fields.get(queued, "callable") : null;
            boolean isRunnable = callable != null && callable.getClass().getName().equals(RUNNABLE);
            Object task = isRunnable ? Fields.get(callable, "task") : null;
            String name = task == null ? "" : task.getClass().getName();
            if (name.equals(HOUSEKEEPER)) {
                open(task.getClass());
                hook(Fields.get(task, "this$0"), "hikari.", "HikariPoolHook");
            } else if (name.equals(JETTYS_HOUSEKEEPER)) { // on virtual threads nothing else leads to the server
                open(task.getClass());
                Object sessions = Fields.get(Fields.get(task, "this$0"), "_sessionIdManager");
                hook(Fields.get(sessions, "_server"), "jetty.", "JettyServer");
            }
        }
    }

    private void hook(Object place, String ownPackage, String className) {
        if (hooks.containsKey(place)) {
            return;
        }
        Hook hook = null;
        try {
            Class<?> type = beside(place.getClass(), ownPackage, className);
            hook = (Hook) type.getMethod("into", Object.class, Opener.class).invoke(null, place, new Opener() {
                @Override
                public void open(Class<?> of) {
                    Hooks.this.open(of);
                }

                @Override
                public Class<?> beside(Class<?> of, String itsPackage, String itsName) throws ClassNotFoundException {
                    return Hooks.beside(of, itsPackage, itsName);
                }
            });
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            warn.accept(place.getClass().getName() + " is of a version that hooks do not know: " + cause);
        }
        hooks.put(place, hook);
    }

    private static Class<?> beside(Class<?> type, String ownPackage, String className) throws ClassNotFoundException {
        return Neighbour.of(type, HERE + ownPackage).loadClass(HERE + ownPackage + className);
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

    /** What hooks ask of who puts them in. */
    public interface Opener {
        /** Opens a class's package to the hooks, if it is in a named module. */
        void open(Class<?> type);

        /** A class of one of the hooks' packages, defined beside another one, which may be of another loader than the hook's. */
        Class<?> beside(Class<?> type, String ownPackage, String className) throws ClassNotFoundException;
    }
}
