package dev.loadline.chat;

import dev.loadline.Loadline;
import dev.loadline.Span;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/** Gives what a user says to all others of the room. Each broadcast is a span of a recording. */
final class Server {
    private record Member(int user, Link link) {
    }

    private final Map<Integer, List<Member>> rooms = new ConcurrentHashMap<>();
    private final LongAdder broadcasts = new LongAdder();
    private final LongAdder deliveries = new LongAdder();

    /** For one connection. */
    Link.Handler newUser() {
        return new User();
    }

    /** What users said. */
    long broadcasts() {
        return broadcasts.sum();
    }

    /** What was given to links, for each user one. */
    long deliveries() {
        return deliveries.sum();
    }

    private final class User implements Link.Handler {
        private List<Member> room;
        private Member self;

        @Override
        public void received(Link link, Frame frame) throws ProtocolException {
            switch (frame.type()) {
                case JOIN -> join(link, frame);
                case SAY -> say(frame);
                default -> throw new ProtocolException("a user sent " + frame.type());
            }
        }

        private void join(Link link, Frame frame) throws ProtocolException {
            if (self != null) {
                throw new ProtocolException("a user joined twice");
            }
            ByteBuffer body = frame.body();
            if (body.remaining() != 8) {
                throw new ProtocolException("JOIN of " + body.remaining() + " bytes; it has 8");
            }
            room = rooms.computeIfAbsent(body.getInt(), number -> new CopyOnWriteArrayList<>());
            self = new Member(body.getInt(), link);
            room.add(self);
            link.send(Frame.joined());
        }

        private void say(Frame frame) throws ProtocolException {
            ByteBuffer body = frame.body();
            if (self == null || body.remaining() < 12) {
                throw new ProtocolException(self == null ? "a user spoke before joining a room" : "SAY of " + body.remaining() + " bytes; it has at least 12");
            }
            try (Span span = Loadline.span("broadcast")) {
                Frame heard = Frame.heard(self.user, frame);
                int given = 0;
                for (Member member : room) {
                    if (member != self) {
                        member.link.send(heard);
                        given++;
                    }
                }
                // Counted before the receipt: who has it may ask for these figures.
                broadcasts.increment();
                deliveries.add(given);
                self.link.send(Frame.receipt(body.getInt()));
            }
        }

        @Override
        public void closed(Link link, Exception why) {
            if (room != null) {
                room.remove(self);
            }
            if (why instanceof ProtocolException) {
                System.err.println("chat: a user was sent away: " + why.getMessage());
            }
        }
    }
}
