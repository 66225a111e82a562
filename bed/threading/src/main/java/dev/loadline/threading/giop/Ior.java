package dev.loadline.threading.giop;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/** Where an object is: its type, host, port, and the key by which its server knows it. */
public record Ior(String type, String host, int port, byte[] key) {
    private static final String PREFIX = "IOR:";
    private static final int IIOP = 0;

    /**
     * Reads {@code IOR:…}.
     *
     * @throws IllegalArgumentException if it is none, or has no address of IIOP
     */
    public static Ior parse(String text) {
        String trimmed = text.trim();
        if (!trimmed.startsWith(PREFIX)) {
            throw new IllegalArgumentException("an object reference begins with " + PREFIX);
        }
        try {
            ByteBuffer in = Cdr.encapsulation(HexFormat.of().parseHex(trimmed.substring(PREFIX.length())));
            String type = Cdr.text(in);
            for (int left = Cdr.number(in); left > 0; left--) {
                int tag = Cdr.number(in);
                byte[] profile = Cdr.octets(in);
                if (tag == IIOP) {
                    ByteBuffer address = Cdr.encapsulation(profile);
                    address.getShort(); // its version
                    String host = Cdr.text(address);
                    int port = Cdr.align(address, 2).getShort() & 0xFFFF;
                    return new Ior(type, host, port, Cdr.octets(address));
                }
            }
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("an object reference that ends too early", e);
        }
        throw new IllegalArgumentException("an object reference without an address of IIOP");
    }

    @Override
    public String toString() {
        byte[] profile = new Cdr.Writer().octet(0).octet(1).octet(2).text(host).number16(port).octets(key).number(0).bytes();
        byte[] whole = new Cdr.Writer().octet(0).text(type).number(1).number(IIOP).octets(profile).bytes();
        return PREFIX + HexFormat.of().formatHex(whole);
    }
}
