package dev.loadline.guard.abuse;

import java.net.InetAddress;

/** Addresses as keys of a table. An IPv6 client has a whole /64 to send from: that counts as one address. */
final class AddressKey {
    private AddressKey() {}

    static long of(InetAddress address) {
        byte[] bytes = address.getAddress();
        long key = bytes.length;
        for (int i = 0; i < Math.min(8, bytes.length); i++) {
            key = key * 0x100000001b3L ^ bytes[i] & 0xff;
        }
        return mix(key, bytes.length);
    }

    static long mix(long a, long b) {
        long z = a * 0x9e3779b97f4a7c15L ^ b;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        return z ^ z >>> 27;
    }
}
