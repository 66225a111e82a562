package dev.loadline.omp.runtime;

import java.util.function.DoubleBinaryOperator;
import java.util.function.IntBinaryOperator;
import java.util.function.LongBinaryOperator;

/**
 * How an atomic update or the reduction of an array combines two values. Float values are combined as doubles
 * and rounded, which for these operators is what float arithmetic gives.
 */
public enum Op {
    /** Sum, from 0. */
    ADD((a, b) -> a + b, (a, b) -> a + b, (a, b) -> a + b, 0, 0),
    /** Difference. */
    SUBTRACT((a, b) -> a - b, (a, b) -> a - b, (a, b) -> a - b, 0, 0),
    /** Product, from 1. */
    MULTIPLY((a, b) -> a * b, (a, b) -> a * b, (a, b) -> a * b, 1, 1),
    /** Quotient. */
    DIVIDE((a, b) -> a / b, (a, b) -> a / b, (a, b) -> a / b, 1, 1),
    /** Rest. */
    REMAINDER((a, b) -> a % b, (a, b) -> a % b, (a, b) -> a % b, 0, 0),
    /** Bits in both, from all ones. */
    AND((a, b) -> a & b, (a, b) -> a & b, null, -1, 0),
    /** Bits in either, from 0. */
    OR((a, b) -> a | b, (a, b) -> a | b, null, 0, 0),
    /** Bits in one, from 0. */
    XOR((a, b) -> a ^ b, (a, b) -> a ^ b, null, 0, 0),
    /** Bits moved up. */
    SHIFT_LEFT((a, b) -> a << b, (a, b) -> a << b, null, 0, 0),
    /** Bits moved down, with the sign. */
    SHIFT_RIGHT((a, b) -> a >> b, (a, b) -> a >> b, null, 0, 0),
    /** Bits moved down, with zeros. */
    SHIFT_RIGHT_UNSIGNED((a, b) -> a >>> b, (a, b) -> a >>> b, null, 0, 0),
    /** The smaller, from the largest of the type. */
    MIN(Math::min, Math::min, Math::min, Long.MAX_VALUE, Double.POSITIVE_INFINITY),
    /** The larger, from the smallest of the type. */
    MAX(Math::max, Math::max, Math::max, Long.MIN_VALUE, Double.NEGATIVE_INFINITY);

    final IntBinaryOperator ints;
    final LongBinaryOperator longs;
    private final DoubleBinaryOperator doubles;
    /** What changes nothing when combined, for whole numbers and for fractions. */
    final long identity;
    final double fractionIdentity;

    Op(IntBinaryOperator ints, LongBinaryOperator longs, DoubleBinaryOperator doubles, long identity, double fractionIdentity) {
        this.ints = ints;
        this.longs = longs;
        this.doubles = doubles;
        this.identity = identity;
        this.fractionIdentity = fractionIdentity;
    }

    DoubleBinaryOperator doubles() {
        if (doubles == null) {
            throw new IllegalArgumentException(this + " of fractions");
        }
        return doubles;
    }

    /** The identity as an int: the ends of the long range become those of the int range. */
    int intIdentity() {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, identity));
    }
}
