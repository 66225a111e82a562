package dev.loadline.omp.runtime;

/** A local variable of type {@code short} that several threads share. */
public final class ShortRef {
    /** Its value. */
    public short v;

    /** A variable that has no value yet. */
    public ShortRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public ShortRef(short v) {
        this.v = v;
    }
}
