package dev.loadline.omp;

import java.util.concurrent.locks.ReentrantLock;

/** OpenMP's locks; nestable, as every lock of Java is. */
public final class OmpLock {
    private final ReentrantLock lock = new ReentrantLock();

    /** Takes the lock; waits until that is possible. */
    public void set() {
        lock.lock();
    }

    /** Gives the lock back. */
    public void unset() {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalMonitorStateException("the lock is not held by this thread: unset() needs set() before it, on the same thread");
        }
        lock.unlock();
    }

    /**
     * Takes the lock if it is free.
     *
     * @return how often this thread holds it now; 0 if another does
     */
    public int test() {
        return lock.tryLock() ? lock.getHoldCount() : 0;
    }
}
