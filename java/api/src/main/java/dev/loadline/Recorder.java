package dev.loadline;

/**
 * Where what an application says goes; in a recording if one runs. The agent defines an implementation
 * beside this interface, in the application's own class loader, and gives it to {@link Loadline}.
 */
interface Recorder {
    void state(String name);

    void push(String name);

    void pop();

    void event(String type, long value);

    /** Begins a span and returns its id; 0 if it is not recorded. */
    long begin(String name);

    /** Ends a span; 0 is none. */
    void end(long id);
}
