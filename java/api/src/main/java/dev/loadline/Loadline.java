package dev.loadline;

/**
 * Application events for a recording.
 *
 * <pre>{@code
 * Loadline.state("pricing");
 * try (Span span = Loadline.span("quote")) {
 *     Loadline.event("items", items.size());
 * }
 * }</pre>
 *
 * <p>Types and names should be few: a recording keeps the first 65,536 different texts, of at most
 * 2,000 bytes each. Put what varies into the value.
 */
public final class Loadline {
    /**
     * Set by the agent: from the beginning if it was there at start, else while it records; null otherwise. What it does
     * between recordings is for it to know: a branch here that is taken from the first recording on would have the methods
     * that call us compiled again then.
     */
    private static volatile Recorder recorder;

    static {
        meetAgent();
    }

    private Loadline() {}

    /**
     * Says what the current thread is doing from now on, in place of what it did until now.
     *
     * @param name the application's name for it
     */
    public static void state(String name) {
        Recorder recorder = Loadline.recorder;
        if (recorder != null) {
            recorder.state(name);
        }
    }

    /**
     * Says what the current thread is doing from now on, and keeps what it did until now for
     * {@link #pop()}.
     *
     * @param name the application's name for it
     */
    public static void push(String name) {
        Recorder recorder = Loadline.recorder;
        if (recorder != null) {
            recorder.push(name);
        }
    }

    /** Says that the current thread does again what it did before the last {@link #push(String)}. */
    public static void pop() {
        Recorder recorder = Loadline.recorder;
        if (recorder != null) {
            recorder.pop();
        }
    }

    /**
     * Marks a point in time.
     *
     * @param type what happened
     * @param value any number that belongs to it
     */
    public static void event(String type, long value) {
        Recorder recorder = Loadline.recorder;
        if (recorder != null) {
            recorder.event(type, value);
        }
    }

    /**
     * Begins a span. It ends when the result is closed, on whichever thread. One that is open when
     * a recording begins is not in it; one that is still open when it ends is cut there.
     *
     * @param name what the interval is
     * @return the span; never null
     */
    public static Span span(String name) {
        Recorder recorder = Loadline.recorder;
        return recorder == null ? Span.NONE : new Span(recorder.begin(name));
    }

    static void end(Span span) {
        Recorder recorder = Loadline.recorder;
        if (recorder != null) {
            recorder.end(span.take());
        }
    }

    /** Tells an agent that is there already; one that comes later finds this class by itself. */
    private static void meetAgent() {
        try {
            Class.forName("dev.loadline.agent.boot.AppProbes", true, null)
                    .getMethod("meet", Class.class)
                    .invoke(null, Loadline.class);
        } catch (ReflectiveOperationException | LinkageError noAgent) {
            recorder = null;
        }
    }
}
