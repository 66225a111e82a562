package dev.loadline.guard;

import dev.loadline.guard.policy.Customer;
import dev.loadline.guard.policy.Priority;
import java.net.InetAddress;

/**
 * Tells which requests and customers matter. Implement what is better known than by patterns of paths,
 * and give it to {@link Guard#classifier}. Called on the server's threads: it should take microseconds.
 */
public interface RequestClassifier {
    /**
     * How much a request matters.
     *
     * @param byPattern what the configured patterns say
     */
    default Priority priority(RequestView request, Priority byPattern) {
        return byPattern;
    }

    /** Whose request it is. */
    default Customer customer(RequestView request) {
        return Customer.SILVER;
    }

    /**
     * Whose connection it is, by what is known before the handshake.
     *
     * @param serverName the name in the hello; null when it was not sent
     */
    default Customer customer(InetAddress address, String serverName) {
        return Customer.SILVER;
    }
}
