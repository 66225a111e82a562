package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Waits on monitors, conditions and locks for known times. */
public final class Locks extends Program {
    /** A monitor with a name of its own. */
    public static final class Monitor {}

    private final Monitor monitor = new Monitor();
    private final ReentrantLock lock = new ReentrantLock();

    public static void main(String[] arguments) throws Exception {
        new Locks().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        switch (command) {
            case "contend":
                return contend();
            case "wait":
                return await(false);
            case "notify":
                return await(true);
            case "lock":
                return lock();
            case "gc":
                System.gc();
                return "";
            case "virtual":
                return virtual();
            case "virtual-monitor":
                return virtualMonitor();
            case "unpark":
                return unpark();
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private static void run(Thread thread) throws InterruptedException {
        thread.start();
        thread.join();
    }

    /** Holds a monitor while another thread wants it; returns that thread's id, the monitor's hash, and the time held. */
    private String contend() throws InterruptedException {
        CountDownLatch about = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            about.countDown();
            wantMonitor();
        }, "waiter");
        long released;
        long wanted;
        synchronized (monitor) {
            waiter.start();
            about.await();
            while (waiter.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            wanted = System.nanoTime();
            Thread.sleep(100);
            released = System.nanoTime();
        }
        waiter.join();
        return waiter.getId() + " " + System.identityHashCode(monitor) + " " + wanted + " " + released;
    }

    private void wantMonitor() {
        synchronized (monitor) {
            Thread.yield();
        }
    }

    private String await(boolean notified) throws InterruptedException {
        Thread waiter = new Thread(() -> {
            synchronized (monitor) {
                try {
                    monitor.wait(notified ? 10_000 : 60);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }, "waiter");
        waiter.start();
        if (notified) {
            while (waiter.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
            synchronized (monitor) {
                monitor.notifyAll();
            }
        }
        waiter.join();
        return waiter.getId() + " " + System.identityHashCode(monitor);
    }

    /** Holds a lock while another thread wants it; returns the other's id and its own. */
    private String lock() throws InterruptedException {
        Thread waiter = new Thread(() -> {
            lock.lock();
            lock.unlock();
        }, "wants-lock");
        lock.lock();
        try {
            waiter.start();
            while (!lock.hasQueuedThread(waiter)) {
                Thread.sleep(1);
            }
            Thread.sleep(50);
        } finally {
            lock.unlock();
        }
        waiter.join();
        return waiter.getId() + " " + Thread.currentThread().getId();
    }

    /** Parks a virtual thread and unparks it a while later; returns its id. */
    private String unpark() throws Exception {
        Object blocker = new Monitor();
        Thread parked = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                .invoke(null, (Runnable) () -> LockSupport.park(blocker));
        while (parked.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Thread.sleep(20);
        LockSupport.unpark(parked);
        parked.join();
        return parked.getId() + " " + Thread.currentThread().getId();
    }

    /** Waits in a virtual thread until told, and for the monitor until whoever told lets go of it; returns its id. */
    private String virtualMonitor() throws Exception {
        Thread waiter = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
            try {
                synchronized (monitor) {
                    monitor.wait();
                }
                Thread.sleep(5); // then the other has it
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            wantMonitor();
        });
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Thread.sleep(20);
        synchronized (monitor) {
            monitor.notifyAll();
        }
        while (waiter.isAlive()) {
            synchronized (monitor) {
                Thread.sleep(40);
            }
        }
        return Long.toString(waiter.getId());
    }

    /** Parks in a virtual thread, which goes on on whichever carrier; returns its id. By reflection: Java 17 has none. */
    private String virtual() throws Exception {
        Object blocker = new Monitor();
        Thread parked = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
            Thread.currentThread().setName("virtual-one");
            for (int i = 0; i < 5; i++) {
                LockSupport.parkNanos(blocker, 12_000_000);
                synchronized (monitor) {
                    Thread.onSpinWait();
                }
            }
        });
        parked.join();
        return Long.toString(parked.getId());
    }
}
