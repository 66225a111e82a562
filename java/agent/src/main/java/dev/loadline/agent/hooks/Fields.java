package dev.loadline.agent.hooks;

import java.lang.reflect.Field;

/** Fields that are not ours, by name; their packages must have been opened. */
public final class Fields {
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

    /** Sets an object's field if it still has this value. */
    public static void replace(Object object, String name, Object expected, Object value)
            throws ReflectiveOperationException {
        Field field = of(object.getClass(), name);
        if (field.get(object) == expected) {
            field.set(object, value);
        }
    }
}
