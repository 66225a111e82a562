package dev.loadline.agent.boot;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** What is asked of a servlet container by one copy of the servlet interfaces: the boot loader sees none. */
final class ServletApi {
    private static final String REQUEST = "HttpServletRequest";

    private final MethodHandle method;
    private final MethodHandle uri;
    private final MethodHandle address;
    private final MethodHandle port;
    private final MethodHandle dispatcher;
    private final MethodHandle attribute;
    private final MethodHandle setAttribute;
    private final MethodHandle isAsynchronous;
    private final MethodHandle asynchronous;
    private final MethodHandle listen;
    private final Class<?> listener;
    private final MethodHandle status;
    private final MethodHandle configuration;
    private final MethodHandle servletName;
    private final MethodHandle context;
    private final MethodHandle container;

    private ServletApi(Class<?> request) throws ReflectiveOperationException {
        String http = request.getPackageName() + '.';
        String servlet = http.substring(0, http.length() - "http.".length());
        ClassLoader loader = request.getClassLoader();
        Class<?> asynchronousContext = Class.forName(servlet + "AsyncContext", false, loader);
        Class<?> servletConfiguration = Class.forName(servlet + "ServletConfig", false, loader);
        Class<?> servletContext = Class.forName(servlet + "ServletContext", false, loader);
        listener = Class.forName(servlet + "AsyncListener", false, loader);
        method = getter(request, "getMethod", String.class);
        uri = getter(request, "getRequestURI", String.class);
        address = getter(request, "getRemoteAddr", String.class);
        port = getter(request, "getRemotePort", int.class);
        dispatcher = object(request, "getDispatcherType", Class.forName(servlet + "DispatcherType", false, loader));
        attribute = handle(request, "getAttribute", MethodType.methodType(Object.class, String.class), Object.class, Object.class, String.class);
        setAttribute = handle(request, "setAttribute", MethodType.methodType(void.class, String.class, Object.class),
                void.class, Object.class, String.class, Object.class);
        isAsynchronous = getter(request, "isAsyncStarted", boolean.class);
        asynchronous = object(request, "getAsyncContext", asynchronousContext);
        listen = handle(asynchronousContext, "addListener", MethodType.methodType(void.class, listener), void.class, Object.class, Object.class);
        status = getter(Class.forName(http + "HttpServletResponse", false, loader), "getStatus", int.class);
        configuration = object(Class.forName(servlet + "Servlet", false, loader), "getServletConfig", servletConfiguration);
        servletName = getter(servletConfiguration, "getServletName", String.class);
        context = object(request, "getServletContext", servletContext);
        container = getter(servletContext, "getServerInfo", String.class);
    }

    /** Of a request's class; null if it is no HTTP request, or older than Servlet 3.0. */
    static ServletApi of(Class<?> type) {
        Class<?> request = http(type);
        try {
            return request == null ? null : new ServletApi(request);
        } catch (ReflectiveOperationException older) {
            return null;
        }
    }

    /** The interface of requests of HTTP among those that a class has. */
    private static Class<?> http(Class<?> type) {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            if (c.isInterface() && c.getSimpleName().equals(REQUEST) && c.getPackageName().endsWith(".servlet.http")) {
                return c;
            }
            for (Class<?> has : c.getInterfaces()) {
                Class<?> found = http(has);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private static MethodHandle getter(Class<?> of, String name, Class<?> result) throws ReflectiveOperationException {
        return handle(of, name, MethodType.methodType(result), result, Object.class);
    }

    private static MethodHandle object(Class<?> of, String name, Class<?> result) throws ReflectiveOperationException {
        return handle(of, name, MethodType.methodType(result), Object.class, Object.class);
    }

    private static MethodHandle handle(Class<?> of, String name, MethodType declared, Class<?> result, Class<?>... asked)
            throws ReflectiveOperationException {
        return MethodHandles.publicLookup().findVirtual(of, name, declared).asType(MethodType.methodType(result, asked));
    }

    String method(Object request) throws Throwable {
        return (String) method.invokeExact(request);
    }

    String uri(Object request) throws Throwable {
        return (String) uri.invokeExact(request);
    }

    String address(Object request) throws Throwable {
        return (String) address.invokeExact(request);
    }

    int port(Object request) throws Throwable {
        return (int) port.invokeExact(request);
    }

    /** Why it comes: a constant of {@code DispatcherType}. */
    String dispatcher(Object request) throws Throwable {
        return ((Enum<?>) (Object) dispatcher.invokeExact(request)).name();
    }

    Object attribute(Object request, String name) throws Throwable {
        return (Object) attribute.invokeExact(request, name);
    }

    void attribute(Object request, String name, Object value) throws Throwable {
        setAttribute.invokeExact(request, name, value);
    }

    boolean isAsynchronous(Object request) throws Throwable {
        return (boolean) isAsynchronous.invokeExact(request);
    }

    /** Has a handler told what becomes of a request that is asynchronous now. */
    void listen(Object request, InvocationHandler handler) throws Throwable {
        Object proxy = Proxy.newProxyInstance(listener.getClassLoader(), new Class<?>[] {listener}, handler);
        Object started = (Object) asynchronous.invokeExact(request);
        listen.invokeExact(started, proxy);
    }

    int status(Object response) throws Throwable {
        return (int) status.invokeExact(response);
    }

    /** The servlet's name, or its class's where it has none. */
    String servletName(Object servlet) throws Throwable {
        Object known = (Object) configuration.invokeExact(servlet);
        String name = known == null ? null : (String) servletName.invokeExact(known);
        return name == null ? servlet.getClass().getSimpleName() : name;
    }

    /** Name and version of the container. */
    String container(Object request) throws Throwable {
        Object in = (Object) context.invokeExact(request);
        return (String) container.invokeExact(in);
    }
}
