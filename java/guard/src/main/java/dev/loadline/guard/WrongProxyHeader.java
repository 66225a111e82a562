package dev.loadline.guard;

/** Bytes that are no header of the PROXY protocol, or one that must be rejected. Costs no stack trace. */
public final class WrongProxyHeader extends Exception {
    private static final long serialVersionUID = 1;

    WrongProxyHeader(String why) {
        super(why, null, false, false);
    }
}
