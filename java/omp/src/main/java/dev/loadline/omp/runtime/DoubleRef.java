package dev.loadline.omp.runtime;

/** A local variable of type {@code double} that several threads share. */
public final class DoubleRef {
    /** Its value. */
    public double v;

    /** A variable that has no value yet. */
    public DoubleRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public DoubleRef(double v) {
        this.v = v;
    }
}
