package dev.loadline.agent.boot;

import jdk.internal.misc.Unsafe;

/**
 * Where elements of arrays lie. The constants and methods of {@code Unsafe} that tell it changed
 * their type from int to long in Java 25, so they are called by reflection.
 */
final class Arrays {
    static final long BYTES = number("arrayBaseOffset", byte[].class);
    private static final long LONGS = number("arrayBaseOffset", long[].class);
    private static final long OBJECTS = number("arrayBaseOffset", Object[].class);
    private static final long OBJECT_SIZE = number("arrayIndexScale", Object[].class);

    private Arrays() {}

    /** Offset of an element of an array of objects. */
    static long element(int i) {
        return OBJECTS + i * OBJECT_SIZE;
    }

    /** Offset of an element of an array of longs. */
    static long longs(int i) {
        return LONGS + (long) i * Long.BYTES;
    }

    private static long number(String method, Class<?> array) {
        try {
            Object number = Unsafe.class.getMethod(method, Class.class).invoke(Unsafe.getUnsafe(), array);
            return ((Number) number).longValue();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
