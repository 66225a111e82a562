package dev.loadline.omp.runtime;

import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.function.DoubleBinaryOperator;
import java.util.function.IntBinaryOperator;
import java.util.function.LongBinaryOperator;

/** Reductions of whole arrays: each member combines one slice of all members' copies, in their order. */
public final class ArrayReductions {
    private ArrayReductions() {}

    /**
     * A member's own copy to begin with.
     *
     * @param like the array to be reduced into; its shape is taken
     * @param op how elements are combined
     * @param <A> the array's type
     * @return an array in which each element is what {@code op} begins with
     */
    @SuppressWarnings("unchecked") // the copy has the class of what it is a copy of
    public static <A> A identity(A like, Op op) {
        Object copy = Array.newInstance(like.getClass().getComponentType(), Array.getLength(like));
        if (copy instanceof int[] ints && op.intIdentity() != 0) {
            Arrays.fill(ints, op.intIdentity());
        } else if (copy instanceof long[] longs && op.identity != 0) {
            Arrays.fill(longs, op.identity);
        } else if (copy instanceof float[] floats && op.fractionIdentity != 0) {
            Arrays.fill(floats, (float) op.fractionIdentity);
        } else if (copy instanceof double[] doubles && op.fractionIdentity != 0) {
            Arrays.fill(doubles, op.fractionIdentity);
        } else if (copy instanceof Object[] rows) {
            Object[] from = (Object[]) like;
            for (int i = 0; i < rows.length; i++) {
                rows[i] = from[i] == null ? null : identity(from[i], op);
            }
        }
        return (A) copy;
    }

    /**
     * Combines all members' copies into the array that they share, and waits until that is done.
     *
     * @param member who calls; all must
     * @param k which of the directive's variables
     * @param op how elements are combined
     * @param target the shared array
     * @param mine this member's copy
     */
    public static void reduce(Member member, int k, Op op, Object target, Object mine) {
        int n = member.size();
        member.putRef(k, mine);
        member.barrier();
        int length = Array.getLength(target);
        int begin = (int) ((long) length * member.number() / n);
        int end = (int) ((long) length * (member.number() + 1) / n);
        for (int i = 0; i < n; i++) {
            combine(op, target, member.ofOther(i, k), begin, end);
        }
        member.barrier();
        member.putRef(k, null);
    }

    private static void combine(Op op, Object target, Object part, int begin, int end) {
        if (target instanceof int[] to && part instanceof int[] from) {
            combine(op.ints, to, from, begin, end);
        } else if (target instanceof long[] to && part instanceof long[] from) {
            combine(op.longs, to, from, begin, end);
        } else if (target instanceof float[] to && part instanceof float[] from) {
            combine(op.doubles(), to, from, begin, end);
        } else if (target instanceof double[] to && part instanceof double[] from) {
            combine(op.doubles(), to, from, begin, end);
        } else if (target instanceof Object[] to && part instanceof Object[] from) {
            for (int i = begin; i < end; i++) {
                if (to[i] != null) {
                    combine(op, to[i], from[i], 0, Array.getLength(to[i]));
                }
            }
        } else {
            throw new IllegalArgumentException("no reduction of " + target.getClass().getTypeName());
        }
    }

    private static void combine(IntBinaryOperator op, int[] to, int[] from, int begin, int end) {
        for (int i = begin; i < end; i++) {
            to[i] = op.applyAsInt(to[i], from[i]);
        }
    }

    private static void combine(LongBinaryOperator op, long[] to, long[] from, int begin, int end) {
        for (int i = begin; i < end; i++) {
            to[i] = op.applyAsLong(to[i], from[i]);
        }
    }

    private static void combine(DoubleBinaryOperator op, float[] to, float[] from, int begin, int end) {
        for (int i = begin; i < end; i++) {
            to[i] = (float) op.applyAsDouble(to[i], from[i]);
        }
    }

    private static void combine(DoubleBinaryOperator op, double[] to, double[] from, int begin, int end) {
        for (int i = begin; i < end; i++) {
            to[i] = op.applyAsDouble(to[i], from[i]);
        }
    }
}
