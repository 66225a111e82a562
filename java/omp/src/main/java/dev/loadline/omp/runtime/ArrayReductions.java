package dev.loadline.omp.runtime;

import java.lang.reflect.Array;

/** Reductions of whole arrays: each member combines one slice of all members' copies, in their order. */
public final class ArrayReductions {
    /** How elements are combined. */
    public enum Op {
        /** Sum, from 0. */
        ADD,
        /** Product, from 1. */
        MULTIPLY,
        /** Bits in all, from all ones. */
        AND,
        /** Bits in any, from 0. */
        OR,
        /** Bits in an odd number, from 0. */
        XOR,
        /** Smallest, from the largest of the type. */
        MIN,
        /** Largest, from the smallest of the type. */
        MAX
    }

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
        if (like instanceof int[] array) {
            int[] copy = new int[array.length];
            if (op != Op.ADD && op != Op.OR && op != Op.XOR) {
                java.util.Arrays.fill(copy, op == Op.MULTIPLY ? 1 : op == Op.MIN ? Integer.MAX_VALUE : op == Op.MAX ? Integer.MIN_VALUE : -1);
            }
            return (A) copy;
        }
        if (like instanceof long[] array) {
            long[] copy = new long[array.length];
            if (op != Op.ADD && op != Op.OR && op != Op.XOR) {
                java.util.Arrays.fill(copy, op == Op.MULTIPLY ? 1 : op == Op.MIN ? Long.MAX_VALUE : op == Op.MAX ? Long.MIN_VALUE : -1);
            }
            return (A) copy;
        }
        if (like instanceof float[] array) {
            float[] copy = new float[array.length];
            if (op != Op.ADD && op != Op.OR && op != Op.XOR) {
                java.util.Arrays.fill(copy, op == Op.MULTIPLY ? 1 : op == Op.MIN ? Float.POSITIVE_INFINITY : op == Op.MAX ? Float.NEGATIVE_INFINITY : bits(op));
            }
            return (A) copy;
        }
        if (like instanceof double[] array) {
            double[] copy = new double[array.length];
            if (op != Op.ADD && op != Op.OR && op != Op.XOR) {
                java.util.Arrays.fill(copy, op == Op.MULTIPLY ? 1 : op == Op.MIN ? Double.POSITIVE_INFINITY : op == Op.MAX ? Double.NEGATIVE_INFINITY : bits(op));
            }
            return (A) copy;
        }
        if (like instanceof Object[] rows) {
            Object[] copy = (Object[]) Array.newInstance(like.getClass().getComponentType(), rows.length);
            for (int i = 0; i < rows.length; i++) {
                copy[i] = rows[i] == null ? null : identity(rows[i], op);
            }
            return (A) copy;
        }
        throw new IllegalArgumentException("no reduction of " + like.getClass().getTypeName());
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
            combine(op, to, from, begin, end);
            return;
        }
        if (target instanceof long[] to && part instanceof long[] from) {
            combine(op, to, from, begin, end);
            return;
        }
        if (target instanceof float[] to && part instanceof float[] from) {
            combine(op, to, from, begin, end);
            return;
        }
        if (target instanceof double[] to && part instanceof double[] from) {
            combine(op, to, from, begin, end);
            return;
        }
        if (target instanceof Object[] to && part instanceof Object[] from) {
            for (int i = begin; i < end; i++) {
                if (to[i] != null) {
                    combine(op, to[i], from[i], 0, Array.getLength(to[i]));
                }
            }
        }
    }

    private static int bits(Op op) {
        throw new IllegalArgumentException(op + " of fractions");
    }

    private static void combine(Op op, int[] to, int[] from, int begin, int end) {
        switch (op) {
            case ADD -> {
                for (int i = begin; i < end; i++) {
                    to[i] += from[i];
                }
            }
            case MULTIPLY -> {
                for (int i = begin; i < end; i++) {
                    to[i] *= from[i];
                }
            }
            case MIN -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.min(to[i], from[i]);
                }
            }
            case MAX -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.max(to[i], from[i]);
                }
            }
            case AND -> {
                for (int i = begin; i < end; i++) {
                    to[i] &= from[i];
                }
            }
            case OR -> {
                for (int i = begin; i < end; i++) {
                    to[i] |= from[i];
                }
            }
            case XOR -> {
                for (int i = begin; i < end; i++) {
                    to[i] ^= from[i];
                }
            }
        }
    }

    private static void combine(Op op, long[] to, long[] from, int begin, int end) {
        switch (op) {
            case ADD -> {
                for (int i = begin; i < end; i++) {
                    to[i] += from[i];
                }
            }
            case MULTIPLY -> {
                for (int i = begin; i < end; i++) {
                    to[i] *= from[i];
                }
            }
            case MIN -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.min(to[i], from[i]);
                }
            }
            case MAX -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.max(to[i], from[i]);
                }
            }
            case AND -> {
                for (int i = begin; i < end; i++) {
                    to[i] &= from[i];
                }
            }
            case OR -> {
                for (int i = begin; i < end; i++) {
                    to[i] |= from[i];
                }
            }
            case XOR -> {
                for (int i = begin; i < end; i++) {
                    to[i] ^= from[i];
                }
            }
        }
    }

    private static void combine(Op op, float[] to, float[] from, int begin, int end) {
        switch (op) {
            case ADD -> {
                for (int i = begin; i < end; i++) {
                    to[i] += from[i];
                }
            }
            case MULTIPLY -> {
                for (int i = begin; i < end; i++) {
                    to[i] *= from[i];
                }
            }
            case MIN -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.min(to[i], from[i]);
                }
            }
            case MAX -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.max(to[i], from[i]);
                }
            }
            case AND, OR, XOR -> bits(op);
        }
    }

    private static void combine(Op op, double[] to, double[] from, int begin, int end) {
        switch (op) {
            case ADD -> {
                for (int i = begin; i < end; i++) {
                    to[i] += from[i];
                }
            }
            case MULTIPLY -> {
                for (int i = begin; i < end; i++) {
                    to[i] *= from[i];
                }
            }
            case MIN -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.min(to[i], from[i]);
                }
            }
            case MAX -> {
                for (int i = begin; i < end; i++) {
                    to[i] = Math.max(to[i], from[i]);
                }
            }
            case AND, OR, XOR -> bits(op);
        }
    }
}
