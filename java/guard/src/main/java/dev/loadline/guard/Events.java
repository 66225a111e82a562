package dev.loadline.guard;

import java.util.Locale;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** JFR events, on a runtime that has the module jdk.jfr; nothing on one that has not. */
final class Events {
    private static final boolean AVAILABLE = available();

    private Events() {}

    private static boolean available() {
        try {
            Class.forName("jdk.jfr.Event");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    static void refused(String connector, Refused why) {
        if (AVAILABLE) {
            Jfr.refused(connector, why);
        }
    }

    static void budget(String connector, Measured measured, LockedPolicy.Snapshot state) {
        if (AVAILABLE) {
            Jfr.budget(connector, measured, state);
        }
    }

    /** Null without JFR. */
    static Object beginRefusing(String connector) {
        return AVAILABLE ? Jfr.begin(connector) : null;
    }

    static void endRefusing(Object event) {
        if (event != null) {
            Jfr.end(event);
        }
    }

    /** Loaded only when the events can be. */
    private static final class Jfr {
        static void refused(String connector, Refused why) {
            var event = new RefusedEvent();
            if (event.isEnabled()) {
                event.connector = connector;
                event.reason = why.name().toLowerCase(Locale.ROOT);
                event.commit();
            }
        }

        static void budget(String connector, Measured measured, LockedPolicy.Snapshot state) {
            var event = new BudgetEvent();
            if (event.isEnabled()) {
                event.connector = connector;
                event.cpus = measured.cpus();
                event.utilization = measured.utilization();
                event.waiting = measured.waiting();
                event.delayMillis = state.delayNanos() / 1e6;
                event.correction = state.factor();
                event.newPerInterval = state.newPerSecond();
                event.newCostMillis = state.fullCpuNanos() / 1e6;
                event.resumedCostMillis = state.resumedCpuNanos() / 1e6;
                event.commit();
            }
        }

        static RefusingEvent begin(String connector) {
            var event = new RefusingEvent();
            event.connector = connector;
            event.begin();
            return event;
        }

        static void end(Object event) {
            ((RefusingEvent) event).commit();
        }
    }

    @Name("dev.loadline.guard.Refused")
    @Label("Refused")
    @Category({"Loadline", "Guard"})
    @Description("A connection or a request that was refused; in observe, that would have been")
    @StackTrace(false)
    static final class RefusedEvent extends Event {
        @Label("Connector")
        String connector;
        @Label("Reason")
        String reason;
    }

    @Name("dev.loadline.guard.Refusing")
    @Label("Refusing")
    @Category({"Loadline", "Guard"})
    @Description("A time in which new connections were refused")
    @StackTrace(false)
    static final class RefusingEvent extends Event {
        @Label("Connector")
        String connector;
    }

    @Name("dev.loadline.guard.Budget")
    @Label("Budget")
    @Category({"Loadline", "Guard"})
    @Description("What was measured and what the next interval can carry, four times a second")
    @StackTrace(false)
    static final class BudgetEvent extends Event {
        @Label("Connector")
        String connector;
        @Label("CPUs at Hand")
        double cpus;
        @Label("Utilization")
        double utilization;
        @Label("Waiting")
        @Description("Threads that wait for a CPU, per CPU")
        double waiting;
        @Label("Delay of who begins (ms)")
        double delayMillis;
        @Label("Correction")
        double correction;
        @Label("New Connections per Interval")
        long newPerInterval;
        @Label("Cost of a New Connection, ms")
        double newCostMillis;
        @Label("Cost of a Resumed Connection, ms")
        double resumedCostMillis;
    }
}
