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
     * One that is named in a configuration file.
     *
     * @param className of a public class with a public constructor without parameters
     * @param loader where it is
     * @throws IllegalArgumentException saying what is wrong with it
     */
    static RequestClassifier named(String className, ClassLoader loader) {
        try {
            return Class.forName(className.trim(), true, loader).asSubclass(RequestClassifier.class).getConstructor().newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            throw new IllegalArgumentException("guard: classifier: '" + className.trim() + "' cannot be used (" + e + "): name a public class that"
                + " implements " + RequestClassifier.class.getName() + " and has a public constructor without parameters", e);
        }
    }

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
     * What a request's session is, where requests are guarded and not connections: a value of its own, such as the subject
     * of a token. It is a claim: see {@link #knows}.
     *
     * @param claimed value of the first session cookie, or of {@code Authorization}; null when there is none
     * @return null when it is of no session, or to go by the cookies and {@code Authorization}
     */
    default String session(RequestView request, String claimed) {
        return claimed;
    }

    /**
     * Whether a session that this server has not served of late is good all the same, such as by a token's signature: then
     * who returns goes before who is new. Asked only while somebody is refused. The server's own sessions are the server's to
     * know.
     */
    default boolean knows(RequestView request, String session) {
        return false;
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
