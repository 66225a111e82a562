package dev.loadline.chat;

import java.nio.ByteBuffer;
import java.util.Random;

/** A user at the client's end: says the next thing when it has the receipt for the last, and checks what it hears. */
final class Talker implements Link.Handler {
    private final Talk talk;
    private final int room;
    private final int user;
    private final Random random;
    /** The last that each other user of the room said. */
    private final int[] lastHeard;
    private Link link;
    /** Of the rounds so far. */
    private int toSay;
    private int said;
    private int receipts;
    private long heard;
    private boolean over;

    Talker(Talk talk, int room, int user, long seed) {
        this.talk = talk;
        this.room = room;
        this.user = user;
        this.random = new Random(seed * 1_000_003 + room * 1_009L + user);
        this.lastHeard = new int[talk.users];
    }

    synchronized void join(Link to) {
        link = to;
        link.send(Frame.join(room, user));
    }

    /** Says {@code more} in a new round. */
    synchronized void say(int more) {
        toSay += more;
        over = false;
        talk.afterThinking(random, this::sayNext);
    }

    private synchronized void sayNext() {
        said++;
        link.send(Frame.say(said, System.nanoTime(), talk.text(random)));
    }

    @Override
    public synchronized void received(Link from, Frame frame) throws ProtocolException {
        switch (frame.type()) {
            case JOINED -> talk.finished();
            case RECEIPT -> {
                int number = frame.body().getInt();
                if (number != said || ++receipts != said) {
                    throw new ProtocolException("a receipt for message " + number + " when " + said + " was said");
                }
                if (said < toSay) {
                    talk.afterThinking(random, this::sayNext);
                }
                finish();
            }
            case HEARD -> {
                ByteBuffer body = frame.body();
                int other = body.getInt();
                int number = body.getInt();
                if (other < 0 || other >= talk.users || other == user || number != lastHeard[other] + 1) {
                    throw new ProtocolException("user " + user + " heard message " + number + " of user " + other + ", not the next of another");
                }
                lastHeard[other] = number;
                heard++;
                talk.delivered(System.nanoTime() - body.getLong());
                finish();
            }
            default -> throw new ProtocolException("the server sent " + frame.type());
        }
    }

    private void finish() {
        if (!over && receipts == toSay && heard == (long) toSay * (talk.users - 1)) {
            over = true;
            talk.finished();
        }
    }

    @Override
    public void closed(Link from, Exception why) {
        talk.fail(why == null ? new java.io.IOException("the server closed a connection") : why);
    }
}
