package dev.loadline;

/** An interval with a name; see {@link Loadline#span(String)}. */
public final class Span implements AutoCloseable {
    static final Span NONE = new Span(0);

    /** 0: there is nothing to end. */
    private long id;

    Span(long id) {
        this.id = id;
    }

    /** Ends the span, on any thread. To close it again, or after the recording is over, does nothing. */
    @Override
    public void close() {
        Loadline.end(this);
    }

    /** The id, once. */
    long take() {
        long open = id;
        id = 0;
        return open;
    }
}
