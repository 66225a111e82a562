package dev.loadline.omp.runtime;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * Barrier, reduction, hand-over, waking, the claiming of work and the ends of tasks, under every interleaving and reordering
 * that jcstress brings about. A lost wake-up shows as a test that does not end.
 */
final class Races {
    private Races() {}

    /** What one wrote before a barrier, the other reads after it. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both see what the other wrote")
    @Outcome(expect = FORBIDDEN, desc = "a write did not come through the barrier")
    @State
    public static class Barrier extends TwoMembers {
        private int x;
        private int y;

        /** Spins. */
        public Barrier() {
            super(true);
        }

        @Actor
        public void one(II_Result r) {
            x = 1;
            first.barrier();
            r.r1 = y;
        }

        @Actor
        public void two(II_Result r) {
            y = 1;
            second.barrier();
            r.r2 = x;
        }
    }

    /** The same where waiters sleep at once. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both see what the other wrote")
    @Outcome(expect = FORBIDDEN, desc = "a write did not come through the barrier")
    @State
    public static class SleepingBarrier extends TwoMembers {
        private int x;
        private int y;

        /** Sleeps. */
        public SleepingBarrier() {
            super(false);
        }

        @Actor
        public void one(II_Result r) {
            x = 1;
            first.barrier();
            r.r1 = y;
        }

        @Actor
        public void two(II_Result r) {
            y = 1;
            second.barrier();
            r.r2 = x;
        }
    }

    /** Both parts are in the sum, and both read the sum after the release. */
    @JCStressTest
    @Outcome(id = "3, 3", expect = ACCEPTABLE, desc = "the sum of both parts")
    @Outcome(expect = FORBIDDEN, desc = "a part was lost, or the sum not seen")
    @State
    public static class Reduction extends TwoMembers {
        private long sum;

        /** Spins. */
        public Reduction() {
            super(true);
        }

        private long reduce(Member member, long part) {
            member.put(0, part);
            if (member.gather()) {
                sum = team.getLong(0, 0) + team.getLong(1, 0);
            }
            member.release();
            return sum;
        }

        @Actor
        public void one(JJ_Result r) {
            r.r1 = reduce(first, 1);
        }

        @Actor
        public void two(JJ_Result r) {
            r.r2 = reduce(second, 2);
        }
    }

    /** Who sees a region's number sees its code, and what came before it. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "1, 42", expect = ACCEPTABLE, desc = "there, with all before it")
    @Outcome(expect = FORBIDDEN, desc = "the region came without its code or what was before it")
    @State
    public static class HandOver {
        private final ForkCell cell = new ForkCell();
        private int before;

        @Actor
        public void master() {
            before = 42;
            cell.body = member -> { };
            cell.publish(1, 2);
        }

        @Actor
        public void worker(II_Result r) {
            if (ForkCell.size(cell.word()) == 2) {
                r.r1 = cell.body != null ? 1 : 0;
                r.r2 = before;
            }
        }
    }

    /** The join: a sleeping master is woken, and sees what the worker did. */
    @JCStressTest
    @Outcome(id = "7, 0", expect = ACCEPTABLE, desc = "the worker's write is there")
    @Outcome(expect = FORBIDDEN, desc = "the region ended before its worker")
    @State
    public static class Join extends TwoMembers {
        private int done;

        /** Sleeps. */
        public Join() {
            super(false);
        }

        @Actor
        public void master(II_Result r) {
            first.awaitDone(1);
            r.r1 = done;
        }

        @Actor
        public void worker() {
            done = 7;
            second.done(1);
        }
    }

    /** One of two members runs a {@code single}. */
    @JCStressTest
    @Outcome(id = {"1, 0", "0, 1"}, expect = ACCEPTABLE, desc = "one of them")
    @Outcome(expect = FORBIDDEN, desc = "none or both")
    @State
    public static class Single extends TwoMembers {
        /** Spins. */
        public Single() {
            super(true);
        }

        @Actor
        public void one(II_Result r) {
            r.r1 = first.single() ? 1 : 0;
        }

        @Actor
        public void two(II_Result r) {
            r.r2 = second.single() ? 1 : 0;
        }
    }

    /** Five iterations in chunks of two, to whoever comes. */
    @JCStressTest
    @Outcome(id = {"5, 0", "0, 5", "4, 1", "1, 4", "3, 2", "2, 3"}, expect = ACCEPTABLE, desc = "each iteration once")
    @Outcome(expect = FORBIDDEN, desc = "an iteration was lost or run twice")
    @State
    public static class Chunks extends TwoMembers {
        /** Spins. */
        public Chunks() {
            super(true);
        }

        private static int iterations(Member member) {
            int count = 0;
            member.loop(Schedule.Kind.DYNAMIC, 5, 2);
            while (member.chunk()) {
                count += (int) (member.end() - member.begin());
            }
            return count;
        }

        @Actor
        public void one(II_Result r) {
            r.r1 = iterations(first);
        }

        @Actor
        public void two(II_Result r) {
            r.r2 = iterations(second);
        }
    }

    /** The last task goes to its owner or to a thief. */
    @JCStressTest
    @Outcome(id = {"1, 0", "0, 1"}, expect = ACCEPTABLE, desc = "one of them has it")
    @Outcome(expect = FORBIDDEN, desc = "lost, or run twice")
    @State
    public static class LastTask {
        private final TaskDeque deque = new TaskDeque();
        private final Member thief = Member.alone();

        /** With one task. */
        public LastTask() {
            deque.push(new Task(member -> { }, null, null));
        }

        @Actor
        public void owner(II_Result r) {
            r.r1 = deque.pop() != null ? 1 : 0;
        }

        @Actor
        public void thief(II_Result r) {
            r.r2 = deque.steal(thief) != null ? 1 : 0;
        }
    }

    /** Who sees that no task is left sees what it did, whoever ran it. */
    @JCStressTest
    @Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "it was not taken yet")
    @Outcome(id = "-1, 1", expect = ACCEPTABLE, desc = "it runs, or has just run")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "it ran, and is seen")
    @Outcome(expect = FORBIDDEN, desc = "counted as done, but not done")
    @State
    public static class TasksDone extends TwoMembers {
        private int x;

        /** Spins. */
        public TasksDone() {
            super(true);
        }

        @Actor
        public void maker(II_Result r) {
            first.task(true, member -> x = 1);
            r.r1 = team.hasTasks() ? -1 : x;
        }

        @Actor
        public void thief(II_Result r) {
            r.r2 = team.runTask(second) ? 1 : 0;
        }
    }

    /** Who waits for its children sees what they did, whoever ran them. */
    @JCStressTest
    @Outcome(id = {"1, 0", "1, 1"}, expect = ACCEPTABLE, desc = "it ran, here or there")
    @Outcome(expect = FORBIDDEN, desc = "the wait ended before the child")
    @State
    public static class TaskWait extends TwoMembers {
        private int x;

        /** Spins. */
        public TaskWait() {
            super(true);
        }

        @Actor
        public void maker(II_Result r) {
            first.task(true, member -> x = 1);
            first.taskwait();
            r.r1 = x;
        }

        @Actor
        public void thief(II_Result r) {
            r.r2 = team.runTask(second) ? 1 : 0;
        }
    }
}
