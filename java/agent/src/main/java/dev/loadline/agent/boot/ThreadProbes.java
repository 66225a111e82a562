package dev.loadline.agent.boot;

/** Called from the JDK's virtual threads. */
public final class ThreadProbes {
    private ThreadProbes() {}

    /** The current thread lets a virtual thread go on: it wants a carrier from here on. */
    public static void goesOn(Object thread) {
        Session s = Emit.any();
        if (s != null) {
            Emit.write(s, Type.GOES_ON, 0, Emit.threadId((Thread) thread), 0);
        }
    }
}
