package dev.loadline.guard.webflux;

import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.ServerAnswer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import reactor.core.scheduler.Schedulers;

/**
 * A request at work: on the thread that subscribed to it, and on those of Reactor's schedulers that it goes on with, as a session that
 * is begun in memory does (its request is handed to {@code Schedulers.boundedElastic()} and on to {@code parallel()}). What is given to
 * a scheduler while a thread works for it is its work.
 */
final class Work {
    private static final String HOOK = "dev.loadline.guard";
    private static final ThreadLocal<Work> CURRENT = new ThreadLocal<>();
    /** Whether a kind of task begins as soon as it has a thread; others, such as timers, wait for something else. */
    private static final ClassValue<Boolean> AT_ONCE = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> task) {
            String name = task.getName();
            return name.startsWith("reactor.") && (name.contains("PublishOn") || name.contains("SubscribeOn"));
        }
    };
    private static int users;

    private final GuardedRequest asked;
    private final Set<Handoff> waiting = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    Work(GuardedRequest asked) {
        this.asked = asked;
    }

    /** From now on it is seen what goes on elsewhere; as long as {@link #unhook} was not called as often. */
    static synchronized void hook() {
        if (users++ == 0) {
            Schedulers.onScheduleHook(HOOK, Work::scheduled);
        }
    }

    static synchronized void unhook() {
        if (--users == 0) {
            Schedulers.resetOnScheduleHook(HOOK);
        }
    }

    private static Runnable scheduled(Runnable task) {
        Work work = CURRENT.get();
        return work == null ? task : work.handsOver(task);
    }

    private Runnable handsOver(Runnable task) {
        if (!AT_ONCE.get(task.getClass())) {
            return () -> run(task);
        }
        var handoff = new Handoff(task);
        waiting.add(handoff);
        if (ended) {
            handoff.forget(); // nobody would do it later
        }
        return handoff;
    }

    /** This thread works for it. */
    void run(Runnable part) {
        if (CURRENT.get() == this) {
            part.run(); // is within what runs already
        } else {
            run(part, asked.enter());
        }
    }

    private void run(Runnable part, GuardedRequest.Run run) {
        Work before = CURRENT.get();
        CURRENT.set(this);
        try {
            part.run();
        } finally {
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before);
            }
            run.leave();
        }
    }

    /** Its answer is complete; what was handed over and has not begun may never. */
    void ended(Supplier<ServerAnswer> answer) {
        ended = true;
        waiting.forEach(Handoff::forget);
        asked.ended(answer);
    }

    private final class Handoff implements Runnable {
        private final Runnable task;
        private final AtomicReference<GuardedRequest.Wait> wait = new AtomicReference<>(asked.handOver());

        Handoff(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            GuardedRequest.Wait was = taken();
            if (was == null) {
                Work.this.run(task);
            } else {
                Work.this.run(task, was.over());
            }
        }

        private GuardedRequest.Wait taken() {
            waiting.remove(this);
            return wait.getAndSet(null);
        }

        void forget() {
            GuardedRequest.Wait was = taken();
            if (was != null) {
                was.never();
            }
        }
    }
}
