package dev.loadline.chat;

import java.io.IOException;

/** The other end sent what it must not. */
final class ProtocolException extends IOException {
    private static final long serialVersionUID = 1;

    ProtocolException(String message) {
        super(message);
    }
}
