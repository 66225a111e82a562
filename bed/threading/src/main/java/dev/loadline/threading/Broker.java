package dev.loadline.threading;

/** Brings requests from the network to a servant, over GIOP 1.2. Found by {@link java.util.ServiceLoader}. */
public interface Broker {
    /** On the command line. */
    String name();

    /**
     * Starts serving on the loopback interface.
     *
     * @throws dev.loadline.bed.Options.UsageException if it has no such strategy, with the reason
     */
    Running start(Work servant, Setting setting) throws Exception;

    /**
     * How it is to serve.
     *
     * @param virtual whether its threads are virtual ones
     * @param pool threads of {@link Strategy#POOL}
     * @param port to listen on, 0 for a free one
     */
    record Setting(Strategy strategy, boolean virtual, int pool, int port) {
        @Override
        public String toString() {
            return strategy.label + (strategy == Strategy.POOL ? " of " + pool : "") + (virtual ? ", virtual threads" : "");
        }
    }

    /** A broker that serves. */
    interface Running extends AutoCloseable {
        /** The servant's address, as CORBA writes it: {@code IOR:…}. */
        String ior();
    }
}
