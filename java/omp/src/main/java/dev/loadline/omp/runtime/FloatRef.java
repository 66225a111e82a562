package dev.loadline.omp.runtime;

/** A local variable of type {@code float} that several threads share. */
public final class FloatRef {
    /** Its value. */
    public float v;

    /** A variable that has no value yet. */
    public FloatRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public FloatRef(float v) {
        this.v = v;
    }
}
