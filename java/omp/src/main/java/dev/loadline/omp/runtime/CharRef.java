package dev.loadline.omp.runtime;

/** A local variable of type {@code char} that several threads share. */
public final class CharRef {
    /** Its value. */
    public char v;

    /** A variable that has no value yet. */
    public CharRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public CharRef(char v) {
        this.v = v;
    }
}
