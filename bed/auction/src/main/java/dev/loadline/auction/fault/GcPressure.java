package dev.loadline.auction.fault;

import jakarta.servlet.Filter;
import java.util.Optional;

/** Pages that allocate 4 MB each in small pieces; the pieces of the last pages stay alive, so that collections have to copy them. */
final class GcPressure extends Fault {
    static final int BYTES_PER_PAGE = 4 << 20;
    private static final int PIECE = 1024;
    /** At most this many pages' pieces live at once, and at most a quarter of the heap. */
    private static final int MOST_ALIVE = 64;

    private final byte[][][] alive =
        new byte[(int) Math.max(1, Math.min(MOST_ALIVE, Runtime.getRuntime().maxMemory() / 4 / BYTES_PER_PAGE))][][];
    private int next;

    GcPressure(String name) {
        super(name);
    }

    @Override
    public Optional<Filter> aroundPages() {
        return Optional.of((request, response, chain) -> {
            byte[][] pieces = new byte[BYTES_PER_PAGE / PIECE][];
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = new byte[PIECE];
            }
            keep(pieces);
            chain.doFilter(request, response);
        });
    }

    private synchronized void keep(byte[][] pieces) {
        alive[next++ % alive.length] = pieces;
        next %= alive.length;
    }
}
