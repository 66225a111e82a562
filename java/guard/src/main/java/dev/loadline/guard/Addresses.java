package dev.loadline.guard;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/** A list of addresses and networks: {@code 10.0.0.0/8, ::1}. Names are not looked up. */
final class Addresses {
    private record Network(byte[] bytes, int bits) {
        boolean has(byte[] address) {
            if (address.length != bytes.length) {
                return false;
            }
            for (int i = 0; i < bits; i++) {
                int mask = 0x80 >> i % 8;
                if ((address[i / 8] & mask) != (bytes[i / 8] & mask)) {
                    return false;
                }
            }
            return true;
        }
    }

    private final List<Network> networks = new ArrayList<>();

    /** @throws IllegalArgumentException naming the entry that is none */
    static Addresses parse(String text) {
        var addresses = new Addresses();
        for (String entry : text.split(",")) {
            if (!entry.isBlank()) {
                addresses.networks.add(network(entry.trim()));
            }
        }
        return addresses;
    }

    private static Network network(String entry) {
        String[] part = entry.split("/", 2);
        String host = part[0];
        boolean literal = host.contains(":") || host.matches("[0-9]+(\\.[0-9]+){3}");
        try {
            if (literal) {
                byte[] bytes = InetAddress.getByName(host).getAddress();
                int bits = part.length == 1 ? bytes.length * 8 : Integer.parseInt(part[1]);
                if (bits >= 0 && bits <= bytes.length * 8) {
                    return new Network(bytes, bits);
                }
            }
        } catch (UnknownHostException | NumberFormatException e) {
            // Said below, with the entry.
        }
        throw new IllegalArgumentException("'" + entry + "' is no address or network, such as 10.0.0.0/8 or ::1");
    }

    boolean isEmpty() {
        return networks.isEmpty();
    }

    boolean contains(InetAddress address) {
        if (networks.isEmpty() || address == null) {
            return false;
        }
        byte[] bytes = address.getAddress();
        for (Network network : networks) {
            if (network.has(bytes)) {
                return true;
            }
        }
        return false;
    }
}
