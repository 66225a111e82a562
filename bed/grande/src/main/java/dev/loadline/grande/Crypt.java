package dev.loadline.grande;

import java.util.Arrays;
import java.util.Random;

/** IDEA (Lai and Massey, 1991) over an array of bytes: encrypted, and decrypted again. */
final class Crypt implements Kernel {
    private static final int ROUNDS = 8;
    private static final int SUBKEYS = 6 * ROUNDS + 4;

    private final byte[] plain;
    private final byte[] encrypted;
    private final byte[] decrypted;
    private final int[] encryption;
    private final int[] decryption;

    Crypt(int bytes) {
        Random random = new Random(136506717L);
        int[] key = new int[8];
        Arrays.setAll(key, i -> random.nextInt(0x10000));
        encryption = subkeys(key);
        decryption = inverse(encryption);
        plain = new byte[bytes];
        random.nextBytes(plain);
        encrypted = new byte[bytes];
        decrypted = new byte[bytes];
    }

    /** The 128-bit key is turned by 25 bits for every eight subkeys. */
    static int[] subkeys(int[] key) {
        int[] subkeys = Arrays.copyOf(key, SUBKEYS);
        for (int i = 8; i < SUBKEYS; i++) {
            int base = i - i % 8 - 8;
            int high = subkeys[base + (i % 8 + 1) % 8];
            int low = subkeys[base + (i % 8 + 2) % 8];
            subkeys[i] = (high << 9 | low >>> 7) & 0xFFFF;
        }
        return subkeys;
    }

    /** The subkeys that undo others: in reverse order, inverted. */
    static int[] inverse(int[] keys) {
        int[] inverse = new int[SUBKEYS];
        for (int round = 0; round <= ROUNDS; round++) {
            int from = 6 * (ROUNDS - round);
            int to = 6 * round;
            boolean middle = round > 0 && round < ROUNDS;
            inverse[to] = reciprocal(keys[from]);
            inverse[to + 1] = -keys[from + (middle ? 2 : 1)] & 0xFFFF;
            inverse[to + 2] = -keys[from + (middle ? 1 : 2)] & 0xFFFF;
            inverse[to + 3] = reciprocal(keys[from + 3]);
            if (round < ROUNDS) {
                inverse[to + 4] = keys[from - 2];
                inverse[to + 5] = keys[from - 1];
            }
        }
        return inverse;
    }

    /** x^-1 modulo 65537, where 0 stands for 65536: by Fermat, x^65535. */
    private static int reciprocal(int x) {
        int result = 1;
        for (int i = 0; i < 16; i++) { // 65535 is sixteen ones
            result = multiply(multiply(result, result), x);
        }
        return result;
    }

    private static int multiply(int a, int b) {
        if (a == 0) {
            return 1 - b & 0xFFFF;
        }
        if (b == 0) {
            return 1 - a & 0xFFFF;
        }
        int product = a * b;
        int low = product & 0xFFFF;
        int high = product >>> 16;
        return low - high + (low < high ? 1 : 0) & 0xFFFF;
    }

    @Override
    public void run() {
        encrypt(plain, encrypted, encryption);
        encrypt(encrypted, decrypted, decryption);
    }

    @Override
    public void run(Crew crew) {
        encrypt(crew, plain, encrypted, encryption);
        encrypt(crew, encrypted, decrypted, decryption);
    }

    private static void encrypt(Crew crew, byte[] from, byte[] to, int[] keys) {
        crew.region(hand -> hand.loop(0, from.length / 8, i -> block(from, to, i * 8, keys)));
    }

    private static void encrypt(byte[] from, byte[] to, int[] keys) {
        //omp parallel for schedule(static)
        for (int block = 0; block < from.length / 8; block++) {
            block(from, to, block * 8, keys);
        }
    }

    static void block(byte[] from, byte[] to, int at, int[] keys) {
        int x1 = word(from, at);
        int x2 = word(from, at + 2);
        int x3 = word(from, at + 4);
        int x4 = word(from, at + 6);
        int k = 0;
        for (int round = 0; round < ROUNDS; round++) {
            x1 = multiply(x1, keys[k]);
            x2 = x2 + keys[k + 1] & 0xFFFF;
            x3 = x3 + keys[k + 2] & 0xFFFF;
            x4 = multiply(x4, keys[k + 3]);
            int t = multiply(x1 ^ x3, keys[k + 4]);
            int u = multiply(t + (x2 ^ x4) & 0xFFFF, keys[k + 5]);
            t = t + u & 0xFFFF;
            x1 ^= u;
            x4 ^= t;
            int swapped = x2 ^ t;
            x2 = x3 ^ u;
            x3 = swapped;
            k += 6;
        }
        put(to, at, multiply(x1, keys[k]));
        put(to, at + 2, x3 + keys[k + 1]);
        put(to, at + 4, x2 + keys[k + 2]);
        put(to, at + 6, multiply(x4, keys[k + 3]));
    }

    private static int word(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF;
    }

    private static void put(byte[] bytes, int at, int word) {
        bytes[at] = (byte) (word >>> 8);
        bytes[at + 1] = (byte) word;
    }

    @Override
    public void check() {
        if (!Arrays.equals(plain, decrypted) || Arrays.equals(plain, encrypted)) {
            throw new IllegalStateException("what was encrypted and decrypted is not the plain text");
        }
    }

    @Override
    public double result() {
        return Arrays.hashCode(encrypted);
    }
}
