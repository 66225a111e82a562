package dev.loadline.guard.servlet;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.function.IntSupplier;

/**
 * Where servers keep requests that wait for a worker thread. The servlet API does not say; Tomcat, Jetty and Undertow do in
 * methods of their own, which are called by name, so that none of them needs to be there.
 */
final class WorkerQueues {
    private WorkerQueues() {}

    /** Null when this is none of those, or has another shape than is known. */
    static IntSupplier of(ServletRequest request) {
        ServletRequest own = request;
        while (own instanceof ServletRequestWrapper wrapper) {
            own = wrapper.getRequest();
        }
        try {
            IntSupplier found = known(own);
            if (found != null) {
                found.getAsInt(); // it fails now, or never
            }
            return found;
        } catch (ReflectiveOperationException | RuntimeException e) {
            System.getLogger("loadline-guard").log(System.Logger.Level.DEBUG, "loadline-guard: no queue of workers is known", e);
            return null;
        }
    }

    private static IntSupplier known(ServletRequest own) throws ReflectiveOperationException {
        String type = own.getClass().getName();
        if (type.startsWith("org.apache.catalina.connector.")) {
            return tomcat(own);
        } else if (type.startsWith("org.eclipse.jetty.")) {
            return jetty(own.getServletContext());
        }
        return type.startsWith("io.undertow.") ? undertow(own) : null;
    }

    /** Filters see a facade, valves what is behind it. */
    private static IntSupplier tomcat(Object request) throws ReflectiveOperationException {
        Object behind = request;
        if (request.getClass().getSimpleName().equals("RequestFacade")) {
            Field field = request.getClass().getDeclaredField("request");
            field.setAccessible(true);
            behind = field.get(request);
        }
        Object connector = call(behind, "getConnector");
        Object protocol = call(connector, "getProtocolHandler");
        // The pool is another one when the connector is started again.
        return () -> quietly(() -> waiting(call(protocol, "getExecutor")));
    }

    private static IntSupplier jetty(Object servletContext) throws ReflectiveOperationException {
        Object server = call(call(servletContext, "getContextHandler"), "getServer");
        Object pool = call(server, "getThreadPool");
        return () -> quietly(() -> waiting(pool));
    }

    private static IntSupplier undertow(Object request) throws ReflectiveOperationException {
        Object connection = call(call(request, "getExchange"), "getConnection");
        Object worker = call(call(connection, "getWorker"), "getMXBean");
        return () -> quietly(() -> (int) call(worker, "getWorkerQueueSize"));
    }

    private interface Asked {
        int get() throws ReflectiveOperationException;
    }

    private static int quietly(Asked asked) {
        try {
            return asked.get();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a queue of workers that was there is not any more", e);
        }
    }

    /** Of a pool: none waits in one that makes a thread for each. */
    private static int waiting(Object pool) throws ReflectiveOperationException {
        if (pool == null) {
            return 0;
        }
        Method size = find(pool.getClass(), "getQueueSize");
        if (size != null) {
            return (int) size.invoke(pool);
        }
        Method queue = find(pool.getClass(), "getQueue");
        return queue != null && queue.invoke(pool) instanceof Collection<?> tasks ? tasks.size() : 0;
    }

    private static Object call(Object of, String name) throws ReflectiveOperationException {
        Method method = of == null ? null : find(of.getClass(), name);
        if (method == null) {
            throw new NoSuchMethodException((of == null ? "null" : of.getClass().getName()) + "." + name);
        }
        return method.invoke(of);
    }

    /** A public method without parameters, where it may be called: of a public class or interface that this one is. */
    private static Method find(Class<?> type, String name) {
        if (type == null) {
            return null;
        }
        if (Modifier.isPublic(type.getModifiers())) {
            try {
                Method method = type.getMethod(name);
                if (Modifier.isPublic(method.getDeclaringClass().getModifiers())) {
                    return method;
                }
            } catch (NoSuchMethodException e) {
                return null; // nor has what it extends
            }
        }
        for (Class<?> part : type.getInterfaces()) {
            Method method = find(part, name);
            if (method != null) {
                return method;
            }
        }
        return find(type.getSuperclass(), name);
    }
}
