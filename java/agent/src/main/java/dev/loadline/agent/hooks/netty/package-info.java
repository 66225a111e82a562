/**
 * Hooks in Netty 4, and so in what is made of it or holds one of its own, defined beside it: handlers in the pipelines of channels that serve HTTP.
 *
 * <p>A server's channel gets a handler that gives one to each channel that it accepts. That one stands first, so that what it passes
 * on is a visit; and gives the pipeline another behind its codec of HTTP/1.1 or of HTTP/2's frames, once there is one, that sees requests
 * and their responses. A codec of HTTP/2 that makes no frames is listened to itself, and its encoder's writer replaced. Where the codec
 * comes with the first bytes, handlers that wait for it are gone by the time it has them. Pipelines are changed on their event loops only.
 * Not seen are what executors do for a request, and streams of HTTP/2 where an encoder is not Netty's own.
 */
package dev.loadline.agent.hooks.netty;
