package dev.loadline.omp.runtime;

/** A local variable of type {@code boolean} that several threads share. */
public final class BooleanRef {
    /** Its value. */
    public boolean v;

    /** A variable that has no value yet. */
    public BooleanRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public BooleanRef(boolean v) {
        this.v = v;
    }
}
