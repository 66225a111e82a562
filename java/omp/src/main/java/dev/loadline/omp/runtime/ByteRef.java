package dev.loadline.omp.runtime;

/** A local variable of type {@code byte} that several threads share. */
public final class ByteRef {
    /** Its value. */
    public byte v;

    /** A variable that has no value yet. */
    public ByteRef() {}

    /**
     * A variable with a value.
     *
     * @param v the value
     */
    public ByteRef(byte v) {
        this.v = v;
    }
}
