package dev.loadline.guard.spring;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Spring Boot's factory of web servers of one kind. Its class lies in {@code o.s.boot.web.embedded} in Boot 3, and in another package
 * since 4, with the same methods: they are called by name, so that one jar serves both.
 */
final class ServerFactory {
    private ServerFactory() {}

    /** Whether a bean is one, or of a subclass. */
    static boolean is(Pattern name, Object bean) {
        for (Class<?> c = bean.getClass(); c != null; c = c.getSuperclass()) {
            if (c.getName().startsWith("org.springframework.boot.") && name.matcher(c.getSimpleName()).matches()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Has it call back for each thing that it makes.
     *
     * @param adds the name of its method, which takes an array of interfaces with one method
     * @throws ReflectiveOperationException when this version of Spring Boot has no such method
     */
    static void customize(Object factory, String adds, Consumer<Object> customizer) throws ReflectiveOperationException {
        Method add = Arrays.stream(factory.getClass().getMethods()).filter(m -> m.getName().equals(adds))
            .findFirst().orElseThrow(() -> new NoSuchMethodException(adds));
        Class<?> type = add.getParameterTypes()[0].getComponentType();
        InvocationHandler customize = (proxy, method, arguments) -> {
            if (method.getDeclaringClass() == Object.class) {
                return switch (method.getName()) {
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "loadline-guard";
                };
            }
            customizer.accept(arguments[0]);
            return null;
        };
        Object customizers = Array.newInstance(type, 1);
        Array.set(customizers, 0, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, customize));
        add.invoke(factory, customizers);
    }
}
