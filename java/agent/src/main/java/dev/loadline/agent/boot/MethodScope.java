package dev.loadline.agent.boot;

import jdk.internal.misc.Unsafe;

/** What a recording wants of methods: which, on which threads, how. Of each method it is found out once. */
public final class MethodScope {
    /** In {@link #ids}: not found out yet, and not wanted. Else the id of its name's string, and one more. */
    static final int UNKNOWN = 0;

    static final int UNWANTED = -1;

    /** Counters of calls that were left out outside of any recorded one: threads have one of several, a cache line each. */
    private static final int STRIPES = 64;

    private static final int STRIPE = 16;
    private static final Unsafe U = Unsafe.getUnsafe();

    private final Filters methods;
    /** Null: all threads. */
    private final Filters threads;

    /** Whether CPU time is wanted. */
    final boolean cpu;

    /** Invocations that are shorter are counted only, in ns. */
    final long shortest;

    final int[] ids = new int[MethodNames.MOST];
    private final long[] leftOut = new long[STRIPES * STRIPE];
    private Session session;

    /** Of one recording; {@code threads} may be null. */
    public MethodScope(Filters methods, Filters threads, boolean cpu, long shortest) {
        this.methods = methods;
        this.threads = threads;
        this.cpu = cpu;
        this.shortest = shortest;
    }

    /** Called once, before anybody sees either. */
    void of(Session of) {
        session = of;
    }

    /** Finds out about a method; two threads may, and find the same. */
    int find(int method) {
        String name = MethodNames.of(method);
        ids[method] = methods.takesMethod(name) ? session.strings.id(name) + 1 : UNWANTED;
        return ids[method];
    }

    boolean wants(Thread thread) {
        return threads == null || threads.takesThread(thread.getName());
    }

    /** Counts calls that were left out. */
    void leaveOut(long thread, long calls) {
        U.getAndAddLong(leftOut, Arrays.longs((int) (thread & STRIPES - 1) * STRIPE), calls);
    }

    /** Tells in the spool's header how many calls were left out. */
    public void tell() {
        long sum = 0;
        for (int i = 0; i < leftOut.length; i += STRIPE) {
            sum += U.getLongVolatile(leftOut, Arrays.longs(i));
        }
        session.tellLeftOut(sum);
    }
}
