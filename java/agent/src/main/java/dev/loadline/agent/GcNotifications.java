package dev.loadline.agent;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import dev.loadline.agent.boot.Emit;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/** Tells, after each collection, which collector ran, why, and what the heap held before and after. */
final class GcNotifications {
    /** The spool's unit of heap sizes: 4 KiB. */
    private static final int UNIT_SHIFT = 12;

    private final List<NotificationEmitter> emitters = new ArrayList<>();
    private final Set<String> heapPools = new HashSet<>();
    /** Of the collectors that have them: Serial, Parallel, G1. */
    private final Set<String> survivorPools = new HashSet<>();

    private final Set<String> oldPools = new HashSet<>();
    private final NotificationListener listener = this::tell;

    private GcNotifications() {}

    /** Begins to listen; null, with a warning, in a JVM without the management modules. */
    static GcNotifications start(Consumer<String> warn) {
        try {
            GcNotifications notifications = new GcNotifications();
            notifications.listen();
            return notifications;
        } catch (NoClassDefFoundError absent) {
            warn.accept("this Java runtime lacks " + absent.getMessage()
                    + ": collections have no names, causes and heap sizes");
            return null;
        }
    }

    private void listen() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getType() == MemoryType.HEAP) {
                heapPools.add(pool.getName());
                if (pool.getName().endsWith("Survivor Space")) {
                    survivorPools.add(pool.getName());
                } else if (pool.getName().endsWith("Old Gen") || pool.getName().equals("Tenured Gen")) {
                    oldPools.add(pool.getName());
                }
            }
        }
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (collector instanceof NotificationEmitter emitter) {
                emitter.addNotificationListener(listener, null, null);
                emitters.add(emitter);
            }
        }
    }

    void stop() {
        for (NotificationEmitter emitter : emitters) {
            try {
                emitter.removeNotificationListener(listener);
            } catch (ListenerNotFoundException already) {
                continue; // the application removed all listeners
            }
        }
    }

    private void tell(Notification notification, Object handback) {
        if (!notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            return;
        }
        GarbageCollectionNotificationInfo about =
                GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
        GcInfo gc = about.getGcInfo();
        Map<String, MemoryUsage> after = gc.getMemoryUsageAfterGc();
        long before = units(gc.getMemoryUsageBeforeGc(), heapPools);
        Emit.gcInfo(about.getGcName(), about.getGcCause(), before << 32 | units(after, heapPools));
        if (!survivorPools.isEmpty()) {
            long most = Runtime.getRuntime().maxMemory() >>> UNIT_SHIFT;
            Emit.gcGenerations(units(after, survivorPools) << 32 | units(after, oldPools), most);
        }
    }

    private static long units(Map<String, MemoryUsage> usage, Set<String> pools) {
        long bytes = 0;
        for (String pool : pools) {
            MemoryUsage used = usage.get(pool);
            bytes += used == null ? 0 : used.getUsed();
        }
        return Math.min(bytes >>> UNIT_SHIFT, 0xFFFF_FFFFL);
    }
}
