package dev.loadline.auction.data;

/**
 * SplitMix64 (Steele, Lea, Flood 2014). Our own, because the JDK does not promise that
 * {@code SplittableRandom.nextInt(bound)} gives the same numbers in every release.
 */
final class Dice {
    private long state;

    /** A stream of its own for each {@code stream} (a table, a row) of a seed. */
    Dice(long seed, long stream) {
        state = mix(seed + 0x9E3779B97F4A7C15L) ^ mix(stream * 0xD1342543DE82EF95L + 1);
    }

    private static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    long next() {
        state += 0x9E3779B97F4A7C15L;
        return mix(state);
    }

    /** Uniform in [0, bound). */
    int below(int bound) {
        // Lemire's multiplication on the upper 32 bits; its bias is below bound / 2^32.
        return (int) (((next() >>> 32) * bound) >>> 32);
    }

    /** Uniform in [low, high]. */
    int between(int low, int high) {
        return low + below(high - low + 1);
    }

    <T> T of(T[] choices) {
        return choices[below(choices.length)];
    }
}
