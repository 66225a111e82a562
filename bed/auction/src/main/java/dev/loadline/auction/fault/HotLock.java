package dev.loadline.auction.fault;

import jakarta.servlet.Filter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;

/** Statistics that every page updates under one monitor, ranking anew each time: half a millisecond of work or more. */
final class HotLock extends Fault {
    private static final int COUNTED = 4096;

    private final int[] visits = new int[COUNTED];
    private Integer[] ranked = new Integer[0];

    HotLock(String name) {
        super(name);
    }

    @Override
    public Optional<Filter> aroundPages() {
        return Optional.of((request, response, chain) -> {
            count(request.getRemotePort());
            chain.doFilter(request, response);
        });
    }

    private synchronized void count(int what) {
        visits[what % COUNTED]++;
        var order = new Integer[COUNTED];
        Arrays.setAll(order, i -> (i * 2_654_435) & (COUNTED - 1));
        Arrays.sort(order, Comparator.comparing((Integer i) -> visits[i]).thenComparing(i -> i));
        ranked = order;
    }

    /** The most visited, last. */
    synchronized Integer[] ranked() {
        return ranked.clone();
    }
}
