package dev.loadline.agent.hooks.jetty;

import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.hooks.Fields;
import java.lang.reflect.Field;
import java.util.AbstractQueue;
import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.EndPoint;

/** The queue of a pool's threads: the same jobs, and tells of those that are for a connection of the server's. */
final class RecordedJobs extends AbstractQueue<Runnable> implements BlockingQueue<Runnable> {
    private static final String EVENTS = "org.eclipse.jetty.io.SelectableChannelEndPoint$";

    final BlockingQueue<Runnable> jobs;
    /** Where a kind of event has its end point. */
    private final Map<Class<?>, Field> endPoints = new ConcurrentHashMap<>();

    RecordedJobs(BlockingQueue<Runnable> jobs) {
        this.jobs = jobs;
    }

    private void tell(Runnable job) {
        if (!job.getClass().getName().startsWith(EVENTS)) {
            return;
        }
        EndPoint socket = socket(job);
        // The pool may be a client's as well.
        if (socket != null && RecordedEndPoint.isUnder(socket.getConnection())) {
            ServerProbes.queued(socket, true);
        }
    }

    private EndPoint socket(Runnable event) {
        try {
            Field field = endPoints.get(event.getClass());
            if (field == null) {
                field = Fields.of(event.getClass(), "this$0");
                endPoints.put(event.getClass(), field);
            }
            return (EndPoint) field.get(event);
        } catch (ReflectiveOperationException otherVersion) {
            return null; // it is run, untold
        }
    }

    @Override
    public boolean offer(Runnable job) {
        tell(job);
        return jobs.offer(job);
    }

    @Override
    public boolean offer(Runnable job, long timeout, TimeUnit unit) throws InterruptedException {
        tell(job);
        return jobs.offer(job, timeout, unit);
    }

    @Override
    public void put(Runnable job) throws InterruptedException {
        tell(job);
        jobs.put(job);
    }

    // What follows only delegates.

    @Override
    public Runnable take() throws InterruptedException {
        return jobs.take();
    }

    @Override
    public Runnable poll() {
        return jobs.poll();
    }

    @Override
    public Runnable poll(long timeout, TimeUnit unit) throws InterruptedException {
        return jobs.poll(timeout, unit);
    }

    @Override
    public Runnable peek() {
        return jobs.peek();
    }

    @Override
    public int remainingCapacity() {
        return jobs.remainingCapacity();
    }

    @Override
    public int drainTo(Collection<? super Runnable> target) {
        return jobs.drainTo(target);
    }

    @Override
    public int drainTo(Collection<? super Runnable> target, int most) {
        return jobs.drainTo(target, most);
    }

    @Override
    public Iterator<Runnable> iterator() {
        return jobs.iterator();
    }

    @Override
    public int size() {
        return jobs.size();
    }

    @Override
    public boolean isEmpty() {
        return jobs.isEmpty();
    }

    @Override
    public boolean contains(Object job) {
        return jobs.contains(job);
    }

    @Override
    public boolean remove(Object job) {
        return jobs.remove(job);
    }

    @Override
    public void clear() {
        jobs.clear();
    }
}
