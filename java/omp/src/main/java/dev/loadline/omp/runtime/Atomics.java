package dev.loadline.omp.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.DoubleBinaryOperator;

/** Updates that no other update of the same place comes between: compare and set, again if another was faster. */
public final class Atomics {
    private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle INT_REF = box(IntRef.class, int.class);
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle LONG_REF = box(LongRef.class, long.class);
    private static final VarHandle FLOATS = MethodHandles.arrayElementVarHandle(float[].class);
    private static final VarHandle FLOAT_REF = box(FloatRef.class, float.class);
    private static final VarHandle DOUBLES = MethodHandles.arrayElementVarHandle(double[].class);
    private static final VarHandle DOUBLE_REF = box(DoubleRef.class, double.class);

    private Atomics() {}

    private static VarHandle box(Class<?> box, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(box, "v", type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Updates an element.
     *
     * @param array of which array
     * @param index which
     * @param op how
     * @param value the operand
     */
    public static void update(int[] array, int index, Op op, int value) {
        if (op == Op.ADD) {
            INTS.getAndAdd(array, index, value);
            return;
        }
        int old;
        do {
            old = (int) INTS.getVolatile(array, index);
        } while (!INTS.compareAndSet(array, index, old, op.ints.applyAsInt(old, value)));
    }

    /**
     * Updates a shared variable.
     *
     * @param variable which
     * @param op how
     * @param value the operand
     */
    public static void update(IntRef variable, Op op, int value) {
        if (op == Op.ADD) {
            INT_REF.getAndAdd(variable, value);
            return;
        }
        int old;
        do {
            old = (int) INT_REF.getVolatile(variable);
        } while (!INT_REF.compareAndSet(variable, old, op.ints.applyAsInt(old, value)));
    }

    /**
     * Updates an element.
     *
     * @param array of which array
     * @param index which
     * @param op how
     * @param value the operand
     */
    public static void update(long[] array, int index, Op op, long value) {
        if (op == Op.ADD) {
            LONGS.getAndAdd(array, index, value);
            return;
        }
        long old;
        do {
            old = (long) LONGS.getVolatile(array, index);
        } while (!LONGS.compareAndSet(array, index, old, op.longs.applyAsLong(old, value)));
    }

    /**
     * Updates a shared variable.
     *
     * @param variable which
     * @param op how
     * @param value the operand
     */
    public static void update(LongRef variable, Op op, long value) {
        if (op == Op.ADD) {
            LONG_REF.getAndAdd(variable, value);
            return;
        }
        long old;
        do {
            old = (long) LONG_REF.getVolatile(variable);
        } while (!LONG_REF.compareAndSet(variable, old, op.longs.applyAsLong(old, value)));
    }

    /**
     * Updates an element.
     *
     * @param array of which array
     * @param index which
     * @param op how
     * @param value the operand
     */
    public static void update(float[] array, int index, Op op, float value) {
        DoubleBinaryOperator combine = op.doubles();
        float old;
        do {
            old = (float) FLOATS.getVolatile(array, index);
        } while (!FLOATS.compareAndSet(array, index, old, (float) combine.applyAsDouble(old, value)));
    }

    /**
     * Updates a shared variable.
     *
     * @param variable which
     * @param op how
     * @param value the operand
     */
    public static void update(FloatRef variable, Op op, float value) {
        DoubleBinaryOperator combine = op.doubles();
        float old;
        do {
            old = (float) FLOAT_REF.getVolatile(variable);
        } while (!FLOAT_REF.compareAndSet(variable, old, (float) combine.applyAsDouble(old, value)));
    }

    /**
     * Updates an element.
     *
     * @param array of which array
     * @param index which
     * @param op how
     * @param value the operand
     */
    public static void update(double[] array, int index, Op op, double value) {
        DoubleBinaryOperator combine = op.doubles();
        double old;
        do {
            old = (double) DOUBLES.getVolatile(array, index);
        } while (!DOUBLES.compareAndSet(array, index, old, combine.applyAsDouble(old, value)));
    }

    /**
     * Updates a shared variable.
     *
     * @param variable which
     * @param op how
     * @param value the operand
     */
    public static void update(DoubleRef variable, Op op, double value) {
        DoubleBinaryOperator combine = op.doubles();
        double old;
        do {
            old = (double) DOUBLE_REF.getVolatile(variable);
        } while (!DOUBLE_REF.compareAndSet(variable, old, combine.applyAsDouble(old, value)));
    }
}
