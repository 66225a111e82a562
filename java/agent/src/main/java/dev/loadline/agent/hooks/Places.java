package dev.loadline.agent.hooks;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;

/** Where hooks go: what the program's threads lead to, field by field. */
final class Places {
    private static final String ACCEPTOR = "org.apache.tomcat.util.net.Acceptor";
    private static final String HOUSEKEEPER = "com.zaxxer.hikari.pool.HikariPool$HouseKeeper";
    private static final String JETTYS_WORKER = "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner";
    private static final String JETTYS_CONNECTOR = "org.eclipse.jetty.server.AbstractConnector";
    private static final String JETTYS_HOUSEKEEPER = "org.eclipse.jetty.session.HouseKeeper$Runner";
    private static final String JDKS_DISPATCHER = "sun.net.httpserver.ServerImpl$Dispatcher";
    private static final String NETTY = "io.netty.";
    private static final String XNIOS_THREAD = "org.xnio.nio.WorkerThread";
    private static final String UNDERTOWS_LISTENER = "io.undertow.server.OpenListener";
    private static final String UNDERTOWS_TLS = "io.undertow.protocols.ssl.UndertowXnioSsl";
    private static final String[] XNIO_AND_UNDERTOW = {"org.xnio.", "io.undertow."};
    /** Fields from what a thread runs, or a selector watches, to what is looked for. */
    private static final int STEPS = 8;

    /** What the JDK makes of a {@code Runnable} that it schedules. */
    private static final String RUNNABLE = "java.util.concurrent.Executors$RunnableAdapter";
    /** A pool may have been given an executor to share; one with more in its queue is not searched. */
    private static final int MAX_QUEUE_OF_OTHERS = 16;

    private final Hooks.Access access;
    private final Found found;
    /** What threads of Netty's run, and what XNIO's watch: it stays what it is, and is looked at once. */
    private final Set<Object> searched = Collections.newSetFromMap(new IdentityHashMap<>());

    Places(Hooks.Access access, Found found) {
        this.access = access;
        this.found = found;
        access.open(ThreadPoolExecutor.class);
    }

    /** Who is told of a place, each time that it is found. */
    interface Found {
        /** By which class of a hook's, in which of the packages beside this one. */
        void at(Object place, String ownPackage, String className);
    }

    /** @param warn is told, a line each, of what cannot be looked at */
    void look(Consumer<String> warn) {
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
    }

    private void look(Object task) throws ReflectiveOperationException {
        if (task == null) {
            return;
        }
        String name = task.getClass().getName();
        if (Fields.isA(task, ACCEPTOR)) {
            access.open(task.getClass());
            found.at(Fields.get(task, "endpoint"), "tomcat.", "TomcatConnector");
        } else if (name.equals(JETTYS_WORKER)) {
            access.open(task.getClass());
            jettysThreads(Fields.get(task, "this$0"));
        } else if (name.equals(JDKS_DISPATCHER)) {
            access.open(task.getClass());
            found.at(Fields.get(task, "this$0"), "jdk.", "JdkServer");
        } else if ((name.startsWith(NETTY) || name.contains("." + NETTY)) && searched.add(task)) {
            // Others' jars may hold one of their own: io.grpc.netty.shaded.io.netty.
            String netty = name.substring(0, name.startsWith(NETTY) ? 0 : name.indexOf("." + NETTY) + 1) + NETTY;
            Object loop = Fields.find(access::open, task, netty + "channel.SingleThreadEventLoop", STEPS, netty);
            if (loop != null) {
                found.at(loop, "netty.", "NettyLoop");
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
        access.open(thread.getClass());
        Selector selector = (Selector) Fields.get(thread, "selector");
        if (!selector.isOpen()) {
            return;
        }
        for (SelectionKey key : selector.keys()) {
            if (key.channel() instanceof ServerSocketChannel && key.attachment() != null && searched.add(key.attachment())) {
                Object listener = Fields.find(access::open, key.attachment(), UNDERTOWS_LISTENER, STEPS, XNIO_AND_UNDERTOW);
                if (listener != null) {
                    found.at(listener, "undertow.", "UndertowListener");
                }
                Object tls = Fields.find(access::open, key.attachment(), UNDERTOWS_TLS, STEPS, XNIO_AND_UNDERTOW);
                if (tls != null) {
                    found.at(tls, "undertow.", "UndertowTls");
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
                access.open(leasee.getClass());
                found.at(Fields.get(leasee, "_server"), "jetty.", "JettyServer");
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
                access.open(task.getClass());
                found.at(Fields.get(task, "this$0"), "hikari.", "HikariPoolHook");
            } else if (name.equals(JETTYS_HOUSEKEEPER)) { // on virtual threads nothing else leads to the server
                access.open(task.getClass());
                Object sessions = Fields.get(Fields.get(task, "this$0"), "_sessionIdManager");
                found.at(Fields.get(sessions, "_server"), "jetty.", "JettyServer");
            }
        }
    }
}
