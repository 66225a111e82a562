package dev.loadline.agent.boot;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Writes events into the spool.
 *
 * <p>A virtual thread cannot leave its carrier within these methods, because nothing here blocks:
 * so the carrier's slot has one writer.
 */
public final class Emit {
    static final int EVENT = 32;
    /** Of {@code b} of a method's record. */
    static final int METHOD_DEPTH_SHIFT = 48;

    static final int METHOD_DEEPEST = 16_383;
    static final int METHOD_HAS_CPU_SHIFT = 62;
    static final int METHOD_THREW_SHIFT = 63;
    static final long METHOD_CPU = (1L << METHOD_DEPTH_SHIFT) - 1;
    static final long METHOD_HAS_CPU = 1L << METHOD_HAS_CPU_SHIFT;
    static final long METHOD_THREW = 1L << METHOD_THREW_SHIFT;
    private static final int KIND_EVENTS = 1;
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");
    /** Superclass of virtual threads; null before Java 19. */
    private static final Class<?> VIRTUAL = find("java.lang.BaseVirtualThread");

    private static final MethodHandle CURRENT_CARRIER = currentCarrier();
    static final ThreadLocal<Slot> SLOTS = slots();

    /** The session that records now, and the same for each level if that is recorded, else null. */
    private static volatile Session session;
    private static volatile Session server;
    private static volatile Session app;
    private static volatile Session methods;

    private Emit() {}

    /** Opens the gates of the levels that are wanted. */
    public static void to(Session to, boolean serverWanted, boolean appWanted) {
        session = to;
        server = serverWanted ? to : null;
        app = appWanted ? to : null;
        methods = to != null && to.methods != null ? to : null;
    }

    /** Closes all gates. */
    public static void toNobody() {
        to(null, false, false);
    }

    /** The session that records now, or null. */
    static Session any() {
        return session;
    }

    /** The session that records the server level now, or null. */
    static Session server() {
        return server;
    }

    /** The session that records the application level now, or null. */
    static Session app() {
        return app;
    }

    /** The session that records methods now, or null. */
    static Session methods() {
        return methods;
    }

    static boolean isVirtual(Thread thread) {
        return VIRTUAL != null && VIRTUAL.isInstance(thread);
    }

    /** The place to write of the kernel thread that this thread runs on. */
    static Slot slot(Thread thread, boolean virtual) {
        Slot slot = SLOTS.get();
        if (slot == null) {
            slot = new Slot(Native.gettid(), virtual ? carrierId() : threadId(thread), Native.atWork());
            SLOTS.set(slot);
        }
        return slot;
    }

    /** Writes the begin of something, and returns what {@link #end} wants to know. */
    static int begin(Session s, int type, int c, long a, long b) {
        write(s, type, c, a, b);
        return s.epoch;
    }

    /** Writes the end of something, unless it began before this session. */
    static void end(int epoch, int type, long a, long b) {
        Session s = session;
        if (s != null && s.epoch == epoch) {
            write(s, type, 0, a, b);
        }
    }

    /** Writes the begin of a span, whose id is this prefix and the event's place; 0 if it was lost. */
    static long spanBegin(Session s, int name, long prefix) {
        long place = write(s, Type.SPAN_BEGIN, name, prefix, 0);
        return place == 0 ? 0 : prefix | place;
    }

    /** Writes what a garbage collector tells when it is done. */
    public static void gcInfo(String collector, String cause, long sizes) {
        Session s = session;
        if (s != null) {
            write(s, Type.GC_INFO, s.strings.id(collector), Integer.toUnsignedLong(s.strings.id(cause)), sizes);
        }
    }

    /** Writes what a garbage collector with survivor spaces left in them and in the old generation, and the heap's bound. */
    public static void gcGenerations(long sizes, long most) {
        Session s = session;
        if (s != null) {
            write(s, Type.GC_GENERATIONS, 0, sizes, most);
        }
    }

    /** Writes that what has this name may have so many connections or threads, as the type says. */
    public static void limit(int type, String name, int most) {
        Session s = server;
        if (s != null) {
            write(s, type, s.strings.id(name), most, 0);
        }
    }

    /** Writes an event of this time about the calling thread's methods: what comes often goes a short way. */
    static void method(Session s, Calls calls, long now, int type, int c, long a, long b) {
        Slot slot = calls.slot;
        if (slot != null && slot.epoch == s.epoch && slot.speaker == 0 && slot.at + EVENT <= slot.end) {
            store(slot, now, type, c, a, b);
        } else {
            write(s, now, type, c, a, b);
        }
    }

    /** Writes an event; returns its place, a number that no other event of the recording has, or 0 if it was lost. */
    static long write(Session s, int type, int c, long a, long b) {
        return write(s, System.nanoTime(), type, c, a, b);
    }

    @DontInline
    private static long write(Session s, long now, int type, int c, long a, long b) {
        Thread thread = Thread.currentThread();
        boolean virtual = isVirtual(thread);
        long speaker = virtual ? threadId(thread) : 0;
        Slot slot = slot(thread, virtual);
        if (slot.epoch != s.epoch) {
            slot.epoch = s.epoch;
            slot.at = 0;
            slot.end = 0;
            if (chunk(s, slot) && !virtual) {
                store(slot, now, Type.THREAD, s.strings.id(thread.getName()), slot.javaId, 0);
            }
        }
        // Room for two: the switch, and the event itself.
        if (slot.at + 2 * EVENT > slot.end && !chunk(s, slot)) {
            s.countLost();
            return 0;
        }
        if (slot.speaker != speaker) {
            slot.speaker = speaker;
            String name = virtual ? thread.getName() : "";
            int digits = Numbered.digits(name);
            int text = s.strings.id(name.substring(0, name.length() - digits));
            store(slot, now, Type.SWITCH_TO, text, speaker, Numbered.code(name, digits));
        }
        // A span is named after the place of its begin, which no other event has.
        long place = slot.at - s.address + slot.unique;
        store(slot, now, type, c, type == Type.SPAN_BEGIN ? a | place : a, b);
        if ((type == Type.VISIT_BEGIN || type == Type.VISIT_END) && !virtual) {
            slot.says(type == Type.VISIT_BEGIN);
        }
        return place;
    }

    static long threadId(Thread thread) {
        return U.getLong(thread, THREAD_ID); // getId() can be overridden, threadId() is not in 17
    }

    private static boolean chunk(Session s, Slot slot) {
        if (slot.end != 0) {
            s.leave(slot.end - Session.CHUNK);
        }
        long at = s.claim(KIND_EVENTS, slot.tid, slot.javaId);
        slot.at = at == 0 ? 0 : at + Session.CHUNK_HEADER;
        slot.end = at == 0 ? 0 : at + Session.CHUNK;
        slot.unique = at == 0 ? 0 : s.unique(at);
        slot.speaker = 0;
        return at != 0;
    }

    private static void store(Slot slot, long now, int type, int c, long a, long b) {
        long at = slot.at;
        slot.at = at + EVENT;
        U.putLong(at, now);
        U.putInt(at + 12, c);
        U.putLong(at + 16, a);
        U.putLong(at + 24, b);
        U.putIntRelease(null, at + 8, type);
    }

    private static long carrierId() {
        try {
            return CURRENT_CARRIER == null ? 0 : threadId((Thread) CURRENT_CARRIER.invokeExact());
        } catch (Throwable unknown) {
            return 0; // what the contract says for a thread that is not known
        }
    }

    private static MethodHandle currentCarrier() {
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
            return lookup.findStatic(Thread.class, "currentCarrierThread", MethodType.methodType(Thread.class));
        } catch (ReflectiveOperationException before19) {
            return null;
        }
    }

    @SuppressWarnings("unchecked")
    private static ThreadLocal<Slot> slots() {
        Class<?> perCarrier = find("jdk.internal.misc.CarrierThreadLocal");
        try {
            return perCarrier == null
                    ? new ThreadLocal<>()
                    : (ThreadLocal<Slot>) perCarrier.getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name, false, null);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }
}
