package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.boot.TaskProbes;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import net.bytebuddy.asm.Advice;

/** In executors and in what they run: a task that is made in the midst of a request goes on with it. */
final class TaskAdvice {
    private TaskAdvice() {}

    /** The constructor of a task. */
    static final class Made {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object task) {
            TaskProbes.carry(task);
        }
    }

    /** The same of none that extends it: that may be a timer, or run again. */
    static final class MadeAsIs {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object task) {
            if (task.getClass() == FutureTask.class) {
                TaskProbes.carry(task);
            }
        }
    }

    /** A task's {@code run()}, {@code call()} or the like. */
    static final class Run {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.This Object task) {
            return TaskProbes.runBegin(task);
        }
    }

    /** {@code execute(task)} or the like. */
    static final class Given {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object task) {
            TaskProbes.carry(task);
        }
    }

    /** {@code execute(task)} of an event loop. */
    static final class GivenToLoop {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object task) {
            TaskProbes.carryAgain(task);
        }
    }

    /** {@code CoroutineDispatcher.dispatch(context, task)}, of any dispatcher: a coroutine is its own task, again and again. */
    static final class Dispatched {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(1) Object task) {
            TaskProbes.carryAgain(task);
        }
    }

    /** {@code DispatchedTask.run()}: a coroutine goes on, until it waits again. */
    static final class Resumed {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object task) {
            TaskProbes.begins(task);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            TaskProbes.ends();
        }
    }

    /** An event loop runs such a task: {@code runTask(task)}. */
    static final class RunByLoop {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object task) {
            TaskProbes.begins(task);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            TaskProbes.ends();
        }
    }

    /** {@code ScheduledThreadPoolExecutor.delayedExecute(task)}: one that is to wait first is a timer, not the request's work. */
    static final class Scheduled {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object task) {
            if (((Delayed) task).getDelay(TimeUnit.NANOSECONDS) <= 0) {
                TaskProbes.carry(task);
            }
        }
    }

    /** {@code ThreadPoolExecutor.beforeExecute(thread, task)}. */
    static final class Begins {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(1) Object task) {
            TaskProbes.begins(task);
        }
    }

    /** {@code ThreadPoolExecutor.afterExecute(task, thrown)}. */
    static final class Ends {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            TaskProbes.ends();
        }
    }

    /** {@code startAsync(…)} of a servlet's request. */
    static final class Asynchronous {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            ServerProbes.goesAsynchronous();
        }
    }
}
