package dev.loadline.agent.hooks;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import jdk.internal.misc.Unsafe;

/** Fields that are not ours, by name; their packages must have been opened. */
public final class Fields {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    private Fields() {}

    /** The field with this name of a class or of one above it. */
    public static Field of(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        throw new NoSuchFieldException(type.getName() + "." + name);
    }

    /** Value of an object's field. */
    public static Object get(Object object, String name) throws ReflectiveOperationException {
        return of(object.getClass(), name).get(object);
    }

    /**
     * The nearest object of a class, or of one below it, that another one's fields lead to, by way of objects whose classes' names
     * begin with one of these; or null.
     *
     * @param opener opens their packages
     */
    public static Object find(Consumer<Class<?>> opener, Object from, String className, int steps, String... by)
            throws ReflectiveOperationException {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Object> reached = List.of(from);
        for (int step = 0; step < steps; step++) {
            List<Object> next = new ArrayList<>();
            for (Object object : reached) {
                for (Class<?> at = object.getClass(); at != null && begins(at, by); at = at.getSuperclass()) {
                    opener.accept(at);
                    for (Field field : at.getDeclaredFields()) {
                        if (field.getType().isPrimitive() || Modifier.isStatic(field.getModifiers())) {
                            continue;
                        }
                        field.setAccessible(true);
                        Object value = field.get(object);
                        if (isA(value, className)) {
                            return value;
                        }
                        if (value != null && begins(value.getClass(), by) && seen.add(value)) {
                            next.add(value);
                        }
                    }
                }
            }
            reached = next;
        }
        return null;
    }

    private static boolean begins(Class<?> type, String... by) {
        for (String prefix : by) {
            if (type.getName().startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    /** Whether an object is of a class, or of one below it, or implements it. */
    static boolean isA(Object object, String className) {
        return object != null && is(object.getClass(), className);
    }

    private static boolean is(Class<?> type, String className) {
        if (type == null) {
            return false;
        }
        if (type.getName().equals(className) || is(type.getSuperclass(), className)) {
            return true;
        }
        for (Class<?> implemented : type.getInterfaces()) {
            if (is(implemented, className)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Sets an object's field if it still has this value. Some are final: by reflection the JVM warns of whoever sets those, from 26
     * on, and will refuse it one day (JEP 500).
     */
    public static void replace(Object object, String name, Object expected, Object value) throws NoSuchFieldException {
        Field field = of(object.getClass(), name);
        UNSAFE.compareAndSetReference(object, UNSAFE.objectFieldOffset(field), expected, field.getType().cast(value));
    }
}
