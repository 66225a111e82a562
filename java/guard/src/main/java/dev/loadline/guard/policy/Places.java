package dev.loadline.guard.policy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * How many events may run at once while CPUs are short, and which runs next. Not thread-safe; has no clock of its own.
 *
 * <p>Terms: an event has a <em>place</em> from when it begins until it ends. It <em>competes</em> while it runs or waits for a CPU; else
 * it is <em>blocked</em>: waits for a database, sleeps, wants a lock. The limit is
 *
 * <pre>limit = {@value #COMPETING} · CPUs + blocked + 4 · √blocked, and at least half of what it was a tick ago</pre>
 *
 * <p>so that blocked events take no places from those that compete, whose number it brings down to so many per CPU. It is twice as
 * large at once when nothing has ended for a while, and after a tick in which a part of the CPUs was not used: then what has places is
 * blocked, more than was known.
 *
 * <p>What always holds: without a measured shortage there is no limit; whoever waits has a place as soon as one is free; who
 * came first is first, but for a full handshake, which lets those pass that come in the time by which it is put back.
 *
 * @param <E> an event
 */
public final class Places<E> {
    /** What an event is, to whoever orders them. */
    public enum Lane { UNDER_WAY, FULL_HANDSHAKE }

    /** Events that compete, per CPU. */
    static final int COMPETING = 4;
    /** Standard deviations of how many are blocked at a time, as of independent ones (Poisson): so many more places, for when more are. */
    private static final double SPARE = 4;
    /** Nobody has ended for so long, and somebody waits: those who have places are blocked. */
    static final long STALL_NANOS = 20_000_000;
    /** Use of the CPUs below which they are not short. */
    private static final double BUSY = 0.9;
    /** By how many of its targets of delay a full handshake is put back. */
    private static final double PUT_BACK = 0.3;
    private static final int UNLIMITED = Integer.MAX_VALUE;
    private static final int MOST = 1 << 20;

    private record Waiting<E>(E event, long dueNanos) {}

    /** By lane, first come first. */
    private final List<ArrayDeque<Waiting<E>>> lanes = new ArrayList<>();
    private int limit = UNLIMITED;
    private int taken;
    private long putBackNanos;
    /** When an event ended last, or something was done about it that none did. */
    private long movedNanos;

    public Places() {
        for (Lane ignored : Lane.values()) {
            lanes.add(new ArrayDeque<>());
        }
    }

    /** An event comes; {@link #next} says whether it begins. */
    public void add(E event, Lane lane, long nowNanos) {
        lanes.get(lane.ordinal()).add(new Waiting<>(event, nowNanos + (lane == Lane.FULL_HANDSHAKE ? putBackNanos : 0)));
        if (stalled(nowNanos)) {
            limit(2.0 * Math.max(limit, taken));
            movedNanos = nowNanos;
        }
    }

    /** The event that begins now, and has a place until it has {@link #ended}; null if none does. */
    public E next() {
        if (taken >= limit) {
            return null;
        }
        ArrayDeque<Waiting<E>> first = null;
        for (ArrayDeque<Waiting<E>> lane : lanes) {
            if (!lane.isEmpty() && (first == null || lane.peek().dueNanos - first.peek().dueNanos < 0)) {
                first = lane;
            }
        }
        if (first == null) {
            return null;
        }
        taken++;
        return first.remove().event;
    }

    /** An event that had a place has ended. */
    public void ended(long nowNanos) {
        taken--;
        movedNanos = nowNanos;
    }

    /** Events that wait for a place. */
    public int waiting() {
        return lanes.stream().mapToInt(ArrayDeque::size).sum();
    }

    /** Whether there is a limit. */
    public boolean limited() {
        return limit != UNLIMITED;
    }

    /** Places there are; {@link Integer#MAX_VALUE} without a limit. */
    public int limit() {
        return limit;
    }

    /** There is no limit until the next tick that finds one of use. */
    public void open() {
        limit = UNLIMITED;
    }

    /** A tick ended. @param targetNanos the delay that is aimed at */
    public void passed(long nowNanos, Delay.Tick tick, double targetNanos) {
        double underWay = (tick.underWayNanos() - tick.turnNanos()) / (1e9 * tick.seconds());
        double compete = underWay * Math.min(1, tick.competing());
        double blocked = underWay - compete;
        double wanted = COMPETING * tick.cpus() + SPARE * Math.sqrt(blocked);
        if (!(compete > wanted)) {
            open(); // or it was not measured
            return;
        }
        putBackNanos = (long) (PUT_BACK * targetNanos);
        boolean begins = !limited();
        double before = begins ? underWay : limit;
        boolean more = !begins && (stalled(nowNanos) || tick.cpuNanos() < BUSY * 1e9 * tick.seconds() * tick.cpus());
        limit(more ? 2 * Math.max(before, taken) : Math.max(wanted + blocked, before / 2));
        if (begins || more) {
            movedNanos = nowNanos;
        }
    }

    private boolean stalled(long nowNanos) {
        return taken >= limit && nowNanos - movedNanos > STALL_NANOS && waiting() > 0;
    }

    private void limit(double places) {
        limit = (int) Math.min(MOST, Math.ceil(places));
    }
}
