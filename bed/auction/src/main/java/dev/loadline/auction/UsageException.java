package dev.loadline.auction;

/** A wrong command line; the message names the option and what it takes. */
public final class UsageException extends Exception {
    UsageException(String message) {
        super(message);
    }
}
