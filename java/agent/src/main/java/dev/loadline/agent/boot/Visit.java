package dev.loadline.agent.boot;

import jdk.internal.vm.annotation.DontInline;

/** What is known of the visit that a thread, virtual or not, is in. */
final class Visit {
    /** A connection's key, in a visit's id: an identity hash. */
    static final long KEY = (1L << 31) - 1;

    private static final ThreadLocal<Visit> OF = new ThreadLocal<>();

    /** Epoch and connection's key; 0 between visits. */
    long id;
    /** Within a step of a handshake. */
    boolean inTls;
    /** What shakes hands in it; null where nobody says so. */
    Object engine;
    /** A request was answered, and its end not told. */
    boolean answered;
    /** Within a service. */
    boolean inService;
    /** The visit that was handed over, whose end is told already. */
    long handedOver;
    /** Its thread leaves what it visits for to who runs the tasks that it makes. */
    boolean leaves;
    /** Of a visit for a task, when the first of its request was made; else 0. */
    long root;
    /** The visit that is for the task which an executor runs here; 0 if there is none. */
    long task;

    void begin(long visit) {
        id = visit;
        handedOver = 0;
        inTls = false;
        engine = null;
        answered = false;
        inService = false;
        leaves = false;
        root = 0;
    }

    /** The calling thread's, whether it is in one or not; made if it never was. */
    @DontInline
    static Visit own() {
        Visit visit = OF.get();
        if (visit == null) {
            visit = new Visit();
            OF.set(visit);
        }
        return visit;
    }

    /** The visit that the calling thread is in, or null. */
    @DontInline
    static Visit current() {
        Visit visit = OF.get();
        return visit == null || visit.id == 0 ? null : visit;
    }

    /** The calling thread is in none, and never was. */
    static void forget() {
        OF.remove();
    }

    static long id(int epoch, long key) {
        return (long) epoch << 32 | key;
    }

    static int epoch(long id) {
        return (int) (id >>> 32);
    }
}
