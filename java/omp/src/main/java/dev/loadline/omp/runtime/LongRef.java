package dev.loadline.omp.runtime;

/** A local variable of type {@code long} that several threads share. */
public final class LongRef {
    /** Its value. */
    public long v;

    /** A variable that has no value yet. */
    public LongRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public LongRef(long v) {
        this.v = v;
    }
}
