package dev.loadline.omp.runtime;

/**
 * A local variable of a reference type that several threads share.
 *
 * @param <T> its type
 */
public final class Ref<T> {
    /** Its value. */
    public T v;

    /** A variable that has no value yet. */
    public Ref() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public Ref(T v) {
        this.v = v;
    }

    /**
     * A variable whose type has no name.
     *
     * @param v the value
     * @param <T> its type
     * @return a box
     */
    public static <T> Ref<T> of(T v) {
        return new Ref<>(v);
    }
}
