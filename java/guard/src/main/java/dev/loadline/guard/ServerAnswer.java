package dev.loadline.guard;

import java.util.Collection;

/**
 * What became of a request.
 *
 * @param status of HTTP
 * @param setCookies values of {@code Set-Cookie}, as far as they can be seen
 * @param session what the server says now of the session that the request claimed
 * @param begun id of a session that the server itself began with it, or to which it changed the name of one; else null
 */
public record ServerAnswer(int status, Collection<String> setCookies, ServerRequest.Session session, String begun) {}
