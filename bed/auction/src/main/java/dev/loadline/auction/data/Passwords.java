package dev.loadline.auction.data;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * What is stored of a password: SHA-256, salted with the nickname. Deliberately one cheap round:
 * nobody's real password is here, and a login should cost what its page costs, not what its hash does.
 */
final class Passwords {
    private Passwords() {
    }

    static String hash(String nickname, String password) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest((nickname + ":" + password).getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    static boolean matches(String nickname, String password, String hash) {
        return MessageDigest.isEqual(hash(nickname, password).getBytes(StandardCharsets.US_ASCII),
            hash.getBytes(StandardCharsets.US_ASCII));
    }
}
