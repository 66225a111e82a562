package dev.loadline.guard.tomcat;

import java.util.Collection;
import java.util.Iterator;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.apache.tomcat.util.threads.TaskQueue;

/**
 * Events for the workers of a {@link WorkerPool}, in the order in which they came. Of the workers, who began to wait last is woken
 * first, and no more are on their way at once than there are CPUs: who runs already takes the next event without anybody's being woken.
 *
 * <p>Tomcat's own wakes a worker for each event and another whenever some are left, holding its lock, in the order in which they began
 * to wait. Near saturation those who run have taken what is there when the woken one comes, which has taken the CPU from who holds the lock: with
 * 380 sessions/s of the auction site on one CPU its poller waited for it a third as often as requests came.
 *
 * <p>An event never waits while a worker does and a CPU is free: who is on its way wakes the next one when it has taken an event and
 * there are more. Without locks.
 */
final class EventQueue extends TaskQueue {
    private static final long serialVersionUID = 1L;

    /** A worker that waits, or did. */
    private static final class Waiter extends AtomicInteger {
        private static final long serialVersionUID = 1L;
        private static final int WAITS = 0;
        private static final int WOKEN = 1;
        private static final int LEFT = 2;
        private final transient Thread thread = Thread.currentThread();

        boolean waits() {
            return get() == WAITS;
        }

        /** Whether it is this call that ends its wait. */
        boolean claim() {
            return compareAndSet(WAITS, WOKEN);
        }

        /** Whether it waits no longer, without having been woken. */
        boolean leave() {
            return compareAndSet(WAITS, LEFT);
        }
    }

    private final transient ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
    /** Of the events, at any moment a few more or less: it is counted apart. */
    private final AtomicInteger count = new AtomicInteger();
    private final transient ConcurrentLinkedDeque<Waiter> waiters = new ConcurrentLinkedDeque<>();
    private final AtomicInteger onTheirWay = new AtomicInteger();
    private final transient IntSupplier cpus;
    private final int most;
    private transient volatile WorkerPool pool;

    /**
     * @param most events that may wait
     * @param cpus at hand; asked often
     */
    EventQueue(int most, IntSupplier cpus) {
        this.most = most;
        this.cpus = cpus;
    }

    void pool(WorkerPool pool) {
        setParent(pool); // it is asked for by Tomcat when the pool has ended
        this.pool = pool;
    }

    /** As Tomcat's: a pool that has fewer workers than events, and may have more, is to make one. */
    @Override
    public boolean offer(Runnable event) {
        WorkerPool now = pool;
        return (now == null || !now.wantsWorker()) && enqueue(event);
    }

    @Override
    public boolean force(Runnable event) {
        WorkerPool now = pool;
        if (now == null || now.isShutdown()) {
            throw new RejectedExecutionException("the workers have ended");
        }
        return enqueue(event);
    }

    private boolean enqueue(Runnable event) {
        if (count.get() >= most) {
            return false;
        }
        events.add(event);
        count.incrementAndGet();
        wakeOne();
        return true;
    }

    private void wakeOne() {
        if (onTheirWay.get() >= cpus.getAsInt()) {
            return; // who is on its way sees to it
        }
        for (Waiter last = waiters.pollFirst(); last != null; last = waiters.pollFirst()) {
            if (last.claim()) {
                onTheirWay.incrementAndGet(); // of one that surely is: others rely on it
                LockSupport.unpark(last.thread);
                return;
            }
        }
    }

    @Override
    public Runnable take() throws InterruptedException {
        WorkerPool now = pool;
        if (now != null && now.isOfStoppedApplication()) {
            return poll(now.getKeepAliveTime(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS);
        }
        return next(Long.MAX_VALUE);
    }

    @Override
    public Runnable poll(long timeout, TimeUnit unit) throws InterruptedException {
        Runnable event = next(unit.toNanos(timeout));
        WorkerPool now = pool;
        if (event == null && now != null) {
            now.endIfOfStoppedApplication();
        }
        return event;
    }

    /** @param nanos to wait, at most; {@link Long#MAX_VALUE} without end */
    private Runnable next(long nanos) throws InterruptedException {
        long untilNanos = System.nanoTime() + nanos;
        for (boolean woken = false; ; ) {
            Runnable event = events.poll();
            if (woken) {
                onTheirWay.decrementAndGet();
                woken = false;
            }
            if (event != null) {
                count.decrementAndGet();
                if (!events.isEmpty()) {
                    wakeOne();
                }
                return event;
            }
            Waiter self = new Waiter();
            waiters.addFirst(self);
            // Whoever put one before this worker could be seen, or while it was on its way, woke nobody.
            if (events.isEmpty() || !self.leave()) {
                woken = waits(self, nanos, untilNanos);
            }
            if (!woken) {
                waiters.removeLastOccurrence(self);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (nanos != Long.MAX_VALUE && untilNanos - System.nanoTime() <= 0) {
                    return null;
                }
            }
        }
    }

    /** Whether it was woken; else its time is over, or its thread interrupted. */
    private boolean waits(Waiter self, long nanos, long untilNanos) {
        while (self.waits()) {
            if (nanos == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, Math.max(1, untilNanos - System.nanoTime()));
            }
            boolean over = nanos != Long.MAX_VALUE && untilNanos - System.nanoTime() <= 0;
            if ((over || Thread.currentThread().isInterrupted()) && self.leave()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Runnable poll() {
        Runnable event = events.poll();
        if (event != null) {
            count.decrementAndGet();
        }
        return event;
    }

    @Override
    public Runnable peek() {
        return events.peek();
    }

    @Override
    public int size() {
        return Math.max(0, count.get());
    }

    @Override
    public boolean isEmpty() {
        return events.isEmpty();
    }

    @Override
    public int remainingCapacity() {
        return Math.max(0, most - size());
    }

    @Override
    public boolean contains(Object event) {
        return events.contains(event);
    }

    @Override
    public boolean remove(Object event) {
        boolean was = events.remove(event);
        if (was) {
            count.decrementAndGet();
        }
        return was;
    }

    @Override
    public void clear() {
        while (poll() != null) { } // each counts
    }

    @Override
    public int drainTo(Collection<? super Runnable> to) {
        return drainTo(to, Integer.MAX_VALUE);
    }

    @Override
    public int drainTo(Collection<? super Runnable> to, int mostOfThem) {
        int drained = 0;
        for (Runnable event; drained < mostOfThem && (event = poll()) != null; drained++) {
            to.add(event);
        }
        return drained;
    }

    @Override
    public Object[] toArray() {
        return events.toArray();
    }

    @Override
    public <T> T[] toArray(T[] like) {
        return events.toArray(like);
    }

    @Override
    public Iterator<Runnable> iterator() {
        Iterator<Runnable> of = events.iterator();
        return new Iterator<>() {
            private Runnable last;

            @Override
            public boolean hasNext() {
                return of.hasNext();
            }

            @Override
            public Runnable next() {
                last = of.next();
                return last;
            }

            @Override
            public void remove() {
                EventQueue.this.remove(last);
            }
        };
    }

    @Override
    public void forEach(Consumer<? super Runnable> action) {
        events.forEach(action);
    }

    /** No pool waits for room: it says that it takes no more. */
    @Override
    public void put(Runnable event) {
        throw new UnsupportedOperationException("an event is offered");
    }

    @Override
    public boolean offer(Runnable event, long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException("an event is offered without a time to wait");
    }
}
