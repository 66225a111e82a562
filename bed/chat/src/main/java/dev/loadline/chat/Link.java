package dev.loadline.chat;

/** One end of a connection. All methods may be called by any thread; none waits for the other end. */
interface Link {
    /** What its owner does with what comes. One call at a time for each link. */
    interface Handler {
        /** A whole frame came. */
        void received(Link link, Frame frame) throws ProtocolException;

        /** It is over, once: {@code why} is null if the other end closed it, or this one did. */
        void closed(Link link, Exception why);
    }

    /** Sends after what was given before; what cannot be sent any more is dropped. */
    void send(Frame frame);

    /** Ends it; what was given may be lost. */
    void close();
}
