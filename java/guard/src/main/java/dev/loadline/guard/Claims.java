package dev.loadline.guard;

import dev.loadline.guard.abuse.KnownSessions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/**
 * What a request shows of a session: cookies by their configured names, {@code Authorization}, or what the user's classifier
 * makes of them. Each is a claim, and nothing more, until {@link KnownSessions} has it.
 */
final class Claims {
    /** A client that shows more gains nothing: the first ones count. */
    private static final int MOST = 4;
    private static final String AUTHORIZATION = "Authorization";

    /**
     * One of them.
     *
     * @param cookie its name; null when it is none
     * @param value as it was sent
     * @param ofServer whether the server itself can tell whether it is good
     */
    record Claim(String cookie, String value, boolean ofServer, long key) {}

    private final List<String> cookies;
    private final KnownSessions sessions;

    Claims(List<String> cookies, KnownSessions sessions) {
        this.cookies = cookies;
        this.sessions = sessions;
    }

    /** In the order of their importance. */
    List<Claim> of(ServerRequest request) {
        var found = new ArrayList<Claim>(2);
        String ofServer = request.sessionCookie();
        for (String line : request.headers("Cookie")) {
            for (int at = 0; at < line.length() && found.size() < MOST; ) {
                int end = line.indexOf(';', at);
                end = end < 0 ? line.length() : end;
                int equals = line.indexOf('=', at);
                if (equals > at && equals < end) {
                    String name = line.substring(at, equals).trim();
                    String value = unquoted(line.substring(equals + 1, end).trim());
                    if (!value.isEmpty() && (name.equals(ofServer) || cookies.contains(name))) {
                        found.add(cookie(name, value, name.equals(ofServer)));
                    }
                }
                at = end + 1;
            }
        }
        for (String value : request.headers(AUTHORIZATION)) {
            if (found.size() < MOST) {
                found.add(new Claim(null, value, false, sessions.key(AUTHORIZATION, value)));
            }
        }
        return found;
    }

    /** What the user's classifier calls a session. */
    Claim named(String session) {
        return new Claim(null, session, false, sessions.key("", session));
    }

    private Claim cookie(String name, String value, boolean ofServer) {
        return new Claim(name, value, ofServer, key(name, value, ofServer));
    }

    /** A server adds to the ids of its own sessions where they are kept, after a dot; the id alone is what is secret. */
    private long key(String name, String value, boolean ofServer) {
        int dot = ofServer ? value.indexOf('.') : -1;
        return sessions.key(name, dot > 0 ? value.substring(0, dot) : value);
    }

    /** The session that a server began itself. */
    long ofServer(String cookie, String id) {
        return key(cookie, id, true);
    }

    /** Whether these set a cookie that a claim has otherwise, or take it away. */
    static boolean replaces(Collection<String> setCookies, Claim claim) {
        for (String set : setCookies) {
            if (name(set).equals(claim.cookie) && (takesAway(set) || !value(set).equals(claim.value))) {
                return true;
            }
        }
        return false;
    }

    /** Keys of the sessions that a response begins: hardly ever more than one. */
    List<Long> issued(Collection<String> setCookies, String ofServer) {
        var issued = new ArrayList<Long>(1);
        for (String set : setCookies) {
            String name = name(set);
            if ((name.equals(ofServer) || cookies.contains(name)) && !takesAway(set)) {
                issued.add(key(name, value(set), name.equals(ofServer)));
            }
        }
        return issued;
    }

    private static String name(String setCookie) {
        return setCookie.substring(0, Math.max(0, setCookie.indexOf('='))).trim();
    }

    private static String value(String setCookie) {
        int end = setCookie.indexOf(';');
        return unquoted(setCookie.substring(setCookie.indexOf('=') + 1, end < 0 ? setCookie.length() : end).trim());
    }

    private static boolean takesAway(String setCookie) {
        return value(setCookie).isEmpty() || setCookie.toLowerCase(Locale.ROOT).matches(".*;\\s*max-age=(0|-\\d+)\\s*(;.*)?");
    }

    private static String unquoted(String text) {
        return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"") ? text.substring(1, text.length() - 1) : text;
    }
}
