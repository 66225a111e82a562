package dev.loadline.agent.boot;

import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import jdk.internal.misc.Unsafe;

/** Called around {@code LockSupport.park*}. */
public final class JvmProbes {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long OWNER =
            U.objectFieldOffset(AbstractOwnableSynchronizer.class, "exclusiveOwnerThread");

    private JvmProbes() {}

    public static int park(Object blocker) {
        Session s = Emit.session();
        if (s == null) {
            return 0;
        }
        if (blocker == null) {
            return Emit.begin(s, Type.PARK, 0, 0, 0);
        }
        long owner = 0;
        if (blocker instanceof AbstractOwnableSynchronizer) {
            Thread thread = (Thread) U.getReference(blocker, OWNER);
            owner = thread == null ? 0 : Emit.threadId(thread);
        }
        int type = s.strings.id(blocker.getClass().getName());
        return Emit.begin(s, Type.PARK, type, System.identityHashCode(blocker), owner);
    }

    public static void unparked(int epoch) {
        Emit.end(epoch, Type.UNPARKED, 0, 0);
    }
}
