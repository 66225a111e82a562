package dev.loadline.chat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.HdrHistogram.Histogram;

/** All users of all rooms: they join, talk in a round that does not count and in one that does, and leave. */
final class Client {
    /** What is asked of it. */
    record Plan(int rooms, int users, int warm, int messages, double thinkSeconds, double limitSeconds, long seed) {
        int connections() {
            return rooms * users;
        }
    }

    /**
     * Of the counted round.
     *
     * @param connectSeconds until all had joined
     * @param seconds from the first word to the last delivery
     * @param said by all users
     * @param deliveries nanoseconds from saying to hearing
     */
    record Result(double connectSeconds, double seconds, long said, Histogram deliveries) {
        double saidPerSecond() {
            return said / seconds;
        }

        double deliveredPerSecond() {
            return deliveries.getTotalCount() / seconds;
        }
    }

    private Client() {
    }

    static Result run(Transport transport, InetSocketAddress server, Plan plan) throws Exception {
        ScheduledExecutorService thinking = plan.thinkSeconds > 0 ? Executors.newScheduledThreadPool(1, task -> {
            var thread = new Thread(task, "thinking");
            thread.setDaemon(true);
            return thread;
        }) : null;
        try {
            var talk = new Talk(plan.users, plan.thinkSeconds, thinking, plan.seed);
            long limit = System.nanoTime() + Math.round(plan.limitSeconds * 1e9);
            long begin = System.nanoTime();
            talk.begin(plan.connections(), false);
            List<Talker> talkers = new ArrayList<>();
            for (int room = 0; room < plan.rooms; room++) {
                for (int user = 0; user < plan.users; user++) {
                    var talker = new Talker(talk, room, user, plan.seed);
                    talker.join(transport.connect(server, talker));
                    talkers.add(talker);
                }
            }
            talk.await(limit - System.nanoTime(), "joined");
            double connecting = (System.nanoTime() - begin) / 1e9;
            if (plan.warm > 0) {
                round(talk, talkers, plan.warm, false, limit);
            }
            System.out.println("chat: counting");
            System.out.flush();
            long counted = System.nanoTime();
            round(talk, talkers, plan.messages, true, limit);
            double seconds = (System.nanoTime() - counted) / 1e9;
            return new Result(connecting, seconds, (long) plan.messages * plan.connections(), talk.deliveries());
        } finally {
            if (thinking != null) {
                thinking.shutdownNow();
            }
        }
    }

    private static void round(Talk talk, List<Talker> talkers, int messages, boolean counted, long limit) throws Exception {
        talk.begin(talkers.size(), counted);
        talkers.forEach(talker -> talker.say(messages));
        talk.await(limit - System.nanoTime(), "said and heard everything");
    }
}
