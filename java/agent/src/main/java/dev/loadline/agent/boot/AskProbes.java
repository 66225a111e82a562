package dev.loadline.agent.boot;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Called from clients of other services whose answers come to whichever thread: such a call has a number of its own. Where the thread
 * that asks waits for the answer in the same call it is told as that, by {@link CallProbes}.
 */
public final class AskProbes {
    private static final AtomicLong ASKED = new AtomicLong();
    /** Calls by what tells nobody but its caller that it is over: room for some thousands under way. */
    private static final Identities AWAITED = new Identities(1 << 10, 0);

    private AskProbes() {}

    /** The calling thread asks a service at an address; null if that is not told. */
    public static Asked ask(URI address) {
        Session s = Emit.server();
        return s == null ? null : ask(s, CallProbes.at(address.getScheme(), address.getHost(), address.getPort()));
    }

    /** A service by what it is called. */
    public static Asked askNamed(String service) {
        Session s = Emit.server();
        return s == null ? null : ask(s, service);
    }

    /** Whether a call is told that would be asked for now. */
    public static boolean tells() {
        return Emit.server() != null;
    }

    public static Asked ask(String scheme, String host, int port) {
        Session s = Emit.server();
        return s == null ? null : ask(s, CallProbes.at(scheme, host, port));
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
        CallProbes.Call call = CallProbes.ofThread();
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
        CallProbes.ofThread().asksAgain = false;
    }

    /** None within a call whose thread waits: that is the same one. */
    private static Asked ask(Session s, Object service) {
        if (CallProbes.ofThread().epoch == s.epoch) {
            return null;
        }
        long id = ASKED.incrementAndGet();
        CallProbes.write(s, service, id);
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

    /** Who asked has what the answer will come to; {@link #over} is told when it has. */
    public static void awaited(Asked call, Object future) {
        if (call != null) {
            AWAITED.put(future, new Awaited(future, call));
        }
    }

    /** Something that may be an answer has come, failed, or is not waited for any more. */
    public static void over(Object future) {
        Awaited awaited = Emit.server() == null ? null : (Awaited) AWAITED.entry(future);
        if (awaited != null) {
            awaited.call.run();
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

    private static final class Awaited extends Identities.Entry {
        private final Asked call;

        Awaited(Object future, Asked call) {
            super(future, 1);
            this.call = call;
        }
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
