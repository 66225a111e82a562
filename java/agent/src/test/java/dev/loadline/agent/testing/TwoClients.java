package dev.loadline.agent.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import java.util.List;
import javax.net.ssl.SSLContext;

/**
 * A recorded server that two clients visited, one after the other: the second resumes the first one's session. What must be
 * told of any server's connections and handshakes is checked here.
 */
public final class TwoClients {
    public final Spool spool;
    public final Story full;
    public final Story resumed;

    private TwoClients(Spool spool, Story full, Story resumed) {
        this.spool = spool;
        this.full = full;
        this.resumed = resumed;
    }

    /** @param pages what the first asks for, each a status and a path; the second asks for {@code /hello} */
    public static TwoClients visit(Target target, TestRecorder recorder, String... pages) throws Exception {
        return visit(Integer.parseInt(target.tell("start")), target, recorder, pages);
    }

    /** The same of the program's server on this port. */
    public static TwoClients visit(int port, Target target, TestRecorder recorder, String... pages) throws Exception {
        TwoClients told = anyhow(port, target, recorder, pages);
        assertEquals(List.of("full", "resumed"), List.of(told.full.handshake(), told.resumed.handshake()));
        return told;
    }

    /** The same, whatever is told of whose session was resumed. */
    public static TwoClients anyhow(int port, Target target, TestRecorder recorder, String... pages) throws Exception {
        recorder.record(target.pid());
        SSLContext context = HttpsClient.newContext();
        HttpsClient first = new HttpsClient(context, port);
        for (String page : pages) {
            String[] asked = page.split(" ");
            assertEquals(Integer.parseInt(asked[0]), first.get(asked[1]), page);
        }
        first.close();
        Thread.sleep(20); // the client tells sessions' ages in milliseconds
        HttpsClient second = new HttpsClient(context, port);
        assertEquals(200, second.get("/hello"));
        second.close();
        Thread.sleep(200); // the server sees the client's close
        assertFalse(first.resumed());
        assertTrue(second.resumed());
        Spool spool = recorder.stop();
        assertEquals("", spool.message);
        TwoClients told = new TwoClients(spool, Story.of(spool, first), Story.of(spool, second));
        for (Story story : List.of(told.full, told.resumed)) {
            assertEquals(story.count(Type.TLS_ENTER), story.count(Type.TLS_EXIT));
            assertEquals(1, story.numbers(Type.TLS_EXIT).stream().filter(result -> result == 0).count());
            assertEquals(1, story.count(Type.CONN_CLOSE));
            assertEquals(story.count(Type.VISIT_BEGIN), story.count(Type.VISIT_END));
            assertEquals(List.of("127.0.0.1"), story.texts(Type.CONN_OPEN));
        }
        return told;
    }
}
