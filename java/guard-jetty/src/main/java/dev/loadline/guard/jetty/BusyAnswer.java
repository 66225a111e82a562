package dev.loadline.guard.jetty;

import dev.loadline.guard.BusyPage;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** The 503 of who is refused. */
final class BusyAnswer {
    private BusyAnswer() {}

    /** @param close whether its connection is not to be used again */
    static void write(BusyPage busy, boolean close, Response response, Callback callback) {
        response.setStatus(HttpStatus.SERVICE_UNAVAILABLE_503);
        HttpFields.Mutable headers = response.getHeaders();
        headers.put(HttpHeader.RETRY_AFTER, busy.retryAfter());
        headers.put(HttpHeader.CACHE_CONTROL, "no-store");
        headers.put(HttpHeader.CONTENT_TYPE, busy.contentType());
        headers.put(HttpHeader.CONTENT_LENGTH, busy.body().length);
        if (close) {
            headers.put(HttpHeader.CONNECTION, "close");
        }
        response.write(true, ByteBuffer.wrap(busy.body()), callback);
    }
}
