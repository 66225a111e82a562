/**
 * Reads the first message of a TLS client and tells a new client from one that claims to resume,
 * before any cryptography is done.
 *
 * <p>Terms. A <em>hello</em> is a ClientHello, the first handshake message (RFC 8446 4.1.2, RFC 5246
 * 7.4.1.2). A client <em>claims</em> a resumption by what it sends: a session id or a ticket (TLS 1.2),
 * or a pre-shared key (TLS 1.3). Whether the claim is good, only the TLS engine can say.
 *
 * <p>What always holds:
 * <ul>
 * <li>the answer depends on the bytes alone, not on how they were cut into records, segments or calls;
 * <li>a hello that is answered {@link dev.loadline.guard.hello.Kind#NEW} cannot be resumed by a server
 *     whose versions were told truly;
 * <li>no input makes it throw, and none makes it hold more than the limit given;
 * <li>bytes whose meaning two readers could take differently (a length that lies, an extension sent
 *     twice) are refused, never guessed at.
 * </ul>
 */
package dev.loadline.guard.hello;
