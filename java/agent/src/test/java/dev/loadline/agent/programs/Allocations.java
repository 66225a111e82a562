package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;

/** Allocates known amounts, each size in a method of its own; a header has 16 bytes, with what it is padded by. */
public final class Allocations extends Program {
    public static final long MUCH = 64 << 20;
    /** Objects of which a part is kept. */
    public static final int MANY = 3_000;

    public static final int KEPT = 500;
    private static final int HEADER = 16;
    private static final int ARRAY = 1_000;
    /** As large as the interval. */
    private static final int CHUNK = 1 << 16;
    private static final int LARGE = 400_000;

    /** Of 32 bytes. */
    public static final class Small {
        static final int SIZE = HEADER + 2 * Long.BYTES;
        final long a;
        final long b;

        Small(long a) {
            this.a = a;
            this.b = a;
        }
    }

    private volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        new Allocations().serve();
    }

    /**
     * {@code all} allocates so much of each size; {@code virtual} small objects in a virtual thread, whose id it returns; {@code keep}
     * many objects, and collects those that it does not keep.
     */
    @Override
    protected String handle(String command) throws Exception {
        if (command.equals("all")) {
            small();
            array();
            chunk();
            large();
            return "";
        }
        if (command.equals("keep")) {
            keep();
            return "";
        }
        Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) this::small);
        thread.join();
        return Long.toString(thread.getId());
    }

    private void keep() throws InterruptedException {
        array(); // past the point that the JVM had set for this thread
        Object[] kept = new Object[KEPT];
        for (int i = 0; i < MANY; i++) {
            sink = kept[i % KEPT] = new Small(i);
        }
        sink = kept;
        System.gc();
        Thread.sleep(300); // the JVM tells of what it freed a little later
    }

    private void small() {
        for (long done = 0; done < MUCH; done += Small.SIZE) {
            sink = new Small(done);
        }
    }

    private void array() {
        for (long done = 0; done < MUCH; done += ARRAY) {
            sink = new byte[ARRAY - HEADER];
        }
    }

    private void chunk() {
        for (long done = 0; done < MUCH; done += CHUNK) {
            sink = new short[(CHUNK - HEADER) / Short.BYTES];
        }
    }

    private void large() {
        for (long done = 0; done < MUCH; done += LARGE) {
            sink = new int[(LARGE - HEADER) / Integer.BYTES];
        }
    }
}
