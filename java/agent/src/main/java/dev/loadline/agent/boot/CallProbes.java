package dev.loadline.agent.boot;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URL;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Called from clients of other services. What is told of a service is where it is, and no path. A call whose thread waits for
 * the answer lies on that thread, and of those within each other the outermost counts, as in {@link JdbcProbes}; one whose
 * answer comes to whichever thread has a number of its own.
 */
public final class CallProbes {
    private static final ThreadLocal<Call> CALL = new ThreadLocal<>();
    private static final AtomicLong ASKED = new AtomicLong();

    private CallProbes() {}

    /** For {@link Rehearsal}: the calling thread is in no call, and never was. */
    static void forgetThread() {
        CALL.remove();
    }

    /** The calling thread waits for a service at an address; the result is for {@link #end}. */
    public static int begin(URI address) {
        return Emit.server() == null ? 0 : beginNamed(at(address.getScheme(), address.getHost(), address.getPort()));
    }

    public static int begin(URL address) {
        return Emit.server() == null ? 0 : beginNamed(at(address.getProtocol(), address.getHost(), address.getPort()));
    }

    /** @param port less than 0 if that is the scheme's */
    public static int begin(String scheme, String host, int port) {
        return Emit.server() == null ? 0 : beginNamed(at(scheme, host, port));
    }

    /** @param authority what reads as host and port */
    public static int begin(String scheme, Object authority) {
        return Emit.server() == null ? 0 : beginNamed(scheme + "://" + authority);
    }

    private static String at(String scheme, String host, int port) {
        return scheme + "://" + host + (port < 0 ? "" : ":" + port);
    }

    /** A service by what it is called, or null. */
    public static int beginNamed(Object service) {
        Session s = Emit.server();
        if (s == null) {
            return 0;
        }
        Call call = ofThread();
        if (call.epoch == s.epoch) {
            return 0;
        }
        write(s, service, 0);
        return call.epoch = s.epoch;
    }

    public static void end(int epoch) {
        if (epoch != 0) {
            CALL.get().epoch = 0;
            Emit.end(epoch, Type.CALL_END, 0, 0);
        }
    }

    /** The calling thread asks a service at an address; null if that is not told. */
    public static Asked ask(URI address) {
        Session s = Emit.server();
        return s == null ? null : ask(s, at(address.getScheme(), address.getHost(), address.getPort()));
    }

    /** A service by what it is called. */
    static Asked askNamed(String service) {
        Session s = Emit.server();
        return s == null ? null : ask(s, service);
    }

    /** Whether a call is told that would be asked for now. */
    public static boolean tells() {
        return Emit.server() != null;
    }

    public static Asked ask(String scheme, String host, int port) {
        Session s = Emit.server();
        return s == null ? null : ask(s, at(scheme, host, port));
    }

    /**
     * The same of one that a connection leads to.
     *
     * @param address null if it leads nowhere yet
     */
    public static Asked ask(String scheme, SocketAddress address) {
        Session s = Emit.server();
        if (s == null) {
            return null;
        }
        if (address instanceof InetSocketAddress) {
            InetSocketAddress inet = (InetSocketAddress) address;
            return ask(scheme, inet.getHostString(), inet.getPort());
        }
        return ask(s, scheme);
    }

    /**
     * The same, where only who asks once more can hear of the answer: what the thread calls of this before {@link #hasAskedAgain}
     * is that, and null.
     *
     * @param url null if it is not known, or one that begins with its path
     * @param base of that
     */
    public static Asked askAgain(String url, String base) {
        Session s = Emit.server();
        if (s == null) {
            return null;
        }
        Call call = ofThread();
        if (call.asksAgain) {
            call.asksAgain = false;
            return null;
        }
        String service = url == null || url.startsWith("/") ? base : url;
        Asked asked = ask(s, service == null ? null : withoutPath(service));
        call.asksAgain = asked != null;
        return asked;
    }

    public static void hasAskedAgain() {
        ofThread().asksAgain = false;
    }

    /** None within a call whose thread waits: that is the same one. */
    private static Asked ask(Session s, Object service) {
        if (ofThread().epoch == s.epoch) {
            return null;
        }
        long id = ASKED.incrementAndGet();
        write(s, service, id);
        return new Asked(s.epoch, id);
    }

    /** Who asked has what the answer will come to, or null if it could not ask. */
    public static void answeredBy(Asked call, CompletableFuture<?> answer) {
        if (call != null) {
            if (answer == null) {
                call.run();
            } else {
                answer.whenComplete(call);
            }
        }
    }

    /**
     * Who asked is given what the answer comes on first.
     *
     * @param whole leads from that to what is over when all of the answer has come
     */
    public static Consumer<Object> answeredIn(Asked call, Function<Object, CompletableFuture<?>> whole) {
        return new Answer(call, whole);
    }

    /** Scheme and authority of a URL, whose user is nobody's business. */
    private static String withoutPath(String url) {
        int scheme = url.indexOf("://");
        int host = scheme < 0 ? 0 : scheme + 3;
        int end = host;
        while (end < url.length() && "/?#".indexOf(url.charAt(end)) < 0) {
            end++;
        }
        int user = url.lastIndexOf('@', end - 1);
        return url.substring(0, host) + url.substring(Math.max(host, user + 1), end);
    }

    private static void write(Session s, Object service, long id) {
        Emit.write(s, Type.CALL_BEGIN, service == null ? 0 : s.strings.id(service.toString()), id, 0);
    }

    private static Call ofThread() {
        Call call = CALL.get();
        if (call == null) {
            call = new Call();
            CALL.set(call);
        }
        return call;
    }

    /** What a thread is at. */
    private static final class Call {
        /** The recording that it is within a call of. */
        int epoch;
        /** It is about to ask once more for what it has just asked for. */
        boolean asksAgain;
    }

    private static final class Answer implements Consumer<Object> {
        private final Asked call;
        private final Function<Object, CompletableFuture<?>> whole;

        Answer(Asked call, Function<Object, CompletableFuture<?>> whole) {
            this.call = call;
            this.whole = whole;
        }

        @Override
        public void accept(Object comesOn) {
            answeredBy(call, whole.apply(comesOn));
        }
    }

    /** A call that is not answered yet, which hears of its end; of more than one, the first counts. */
    public static final class Asked implements BiConsumer<Object, Throwable>, Consumer<Object>, Runnable {
        private final int epoch;
        private final long id;
        private boolean over;

        Asked(int epoch, long id) {
            this.epoch = epoch;
            this.id = id;
        }

        @Override
        public void accept(Object answer, Throwable failure) {
            run();
        }

        @Override
        public void accept(Object failure) {
            run();
        }

        @Override
        public void run() {
            if (!over) {
                over = true;
                Emit.end(epoch, Type.CALL_END, id, 0);
            }
        }
    }
}
