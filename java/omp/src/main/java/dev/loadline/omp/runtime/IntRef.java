package dev.loadline.omp.runtime;

/** A local variable of type {@code int} that several threads share. */
public final class IntRef {
    /** Its value. */
    public int v;

    /** A variable that has no value yet. */
    public IntRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public IntRef(int v) {
        this.v = v;
    }
}
