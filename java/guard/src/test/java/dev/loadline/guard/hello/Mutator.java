package dev.loadline.guard.hello;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Makes of good inputs bad ones, and of whole ones cut ones. The same seed gives the same inputs. */
final class Mutator {
    private static final byte[] EDGES = {0, 1, 2, 3, 4, 16, 22, 31, 32, 33, 35, 41, 43, (byte) 0x7f, (byte) 0x80, (byte) 0xff};
    private static final int LONGEST = 40_000;

    private final SplittableRandom random;

    Mutator(long seed) {
        random = new SplittableRandom(seed);
    }

    int below(int n) {
        return random.nextInt(n);
    }

    /** Another input, made of one of these by one to six changes. */
    byte[] next(List<byte[]> from) {
        byte[] b = from.get(below(from.size()));
        for (int changes = 1 + below(6); changes > 0; changes--) {
            b = change(b, from);
        }
        return b.length > LONGEST ? Arrays.copyOf(b, LONGEST) : b;
    }

    private byte[] change(byte[] b, List<byte[]> from) {
        if (b.length == 0) {
            return from.get(below(from.size()));
        }
        int at = below(b.length);
        return switch (below(11)) {
            case 0 -> set(b, at, b[at] ^ 1 << below(8));
            case 1 -> set(b, at, EDGES[below(EDGES.length)]);
            case 2 -> set(b, at, b[at] + below(9) - 4);
            case 3 -> Arrays.copyOf(b, at);
            case 4 -> splice(b, at, new byte[1 + below(8)], at);
            case 5 -> splice(b, at, new byte[0], Math.min(b.length, at + 1 + below(16)));
            case 6 -> splice(b, at, Arrays.copyOfRange(b, at, Math.min(b.length, at + 1 + below(64))), at);
            case 7 -> {
                byte[] other = from.get(below(from.size()));
                yield splice(b, at, Arrays.copyOfRange(other, Math.min(at, other.length), other.length), b.length);
            }
            case 8 -> repaired(b);
            case 9 -> b.length < 6 ? b : HelloBytes.records(Arrays.copyOfRange(b, 5, b.length), 1 + below(Math.max(1, b.length / 2)));
            default -> withExtension(b);
        };
    }

    private static byte[] set(byte[] b, int at, int value) {
        byte[] changed = b.clone();
        changed[at] = (byte) value;
        return changed;
    }

    private static byte[] splice(byte[] b, int from, byte[] part, int to) {
        return HelloBytes.join(Arrays.copyOf(b, from), part, Arrays.copyOfRange(b, to, b.length));
    }

    /** Lengths of record and message made true again, so that what was changed inside is looked at. */
    private static byte[] repaired(byte[] b) {
        if (b.length < 9 || b.length > 16_384) {
            return b;
        }
        byte[] fixed = b.clone();
        fixed[3] = (byte) (b.length - 5 >> 8);
        fixed[4] = (byte) (b.length - 5);
        fixed[6] = 0;
        fixed[7] = (byte) (b.length - 9 >> 8);
        fixed[8] = (byte) (b.length - 9);
        return fixed;
    }

    /** An extension put before or behind the others, or the last one's content changed, all lengths true. */
    private byte[] withExtension(byte[] b) {
        int id = 9 + 34;
        int suites = b.length > id ? id + 1 + (b[id] & 0xff) : b.length;
        int compressions = suites + 1 < b.length ? suites + 2 + u16(b, suites) : b.length;
        int all = compressions < b.length ? compressions + 1 + (b[compressions] & 0xff) : b.length;
        if (all + 2 > b.length) {
            return b;
        }
        byte[] longer = switch (below(3)) {
            case 0 -> splice(b, all + 2, extension(), all + 2);
            case 1 -> splice(b, b.length, extension(), b.length);
            default -> lastChanged(b, all + 2);
        };
        longer = repaired(longer);
        longer[all] = (byte) (longer.length - all - 2 >> 8);
        longer[all + 1] = (byte) (longer.length - all - 2);
        return longer;
    }

    private byte[] extension() {
        byte[] content = new byte[below(12)];
        for (int i = 0; i < content.length; i++) {
            content[i] = EDGES[below(6)];
        }
        int type = below(2) == 0 ? below(64) : EDGES[below(EDGES.length)] & 0xff;
        return HelloBytes.join(HelloBytes.u16(type), HelloBytes.vector16(content));
    }

    /** Bytes taken from the end of the last extension or put there, as if a list in it were shorter or longer. */
    private byte[] lastChanged(byte[] b, int first) {
        int last = first;
        for (int at = first; at + 4 <= b.length; at += 4 + u16(b, at + 2)) {
            last = at;
        }
        if (last + 4 >= b.length) {
            return b;
        }
        int tail = Math.min(b.length - last - 4, EDGES[below(EDGES.length)] & 0x3f);
        byte[] content = Arrays.copyOfRange(b, last + 4, b.length);
        byte[] changed = below(2) == 0 ? Arrays.copyOf(content, content.length - tail)
            : HelloBytes.join(content, new byte[] {(byte) tail}, new byte[tail]);
        if (changed.length > 0 && (b[last] << 8 | b[last + 1]) == HelloBytes.PSK) {
            int binders = 2 + u16(content, 0);
            if (binders + 2 <= changed.length) {
                System.arraycopy(HelloBytes.u16(changed.length - binders - 2), 0, changed, binders, 2);
            }
        }
        return HelloBytes.join(Arrays.copyOf(b, last + 2), HelloBytes.vector16(changed));
    }

    private static int u16(byte[] b, int at) {
        return at + 1 < b.length ? (b[at] & 0xff) << 8 | b[at + 1] & 0xff : 0;
    }
}
