package dev.loadline.guard;

import java.nio.charset.StandardCharsets;

/**
 * What a 503 says, made once.
 *
 * @param body in UTF-8; not to be changed
 * @param contentType of it
 * @param retryAfter the header's value, in seconds
 */
public record BusyPage(byte[] body, String contentType, String retryAfter) {
    static BusyPage of(GuardSettings settings) {
        String page = settings.page();
        return new BusyPage(page.getBytes(StandardCharsets.UTF_8), (page.startsWith("<") ? "text/html" : "text/plain") + ";charset=utf-8",
            Long.toString(settings.retryAfter().toSeconds()));
    }
}
