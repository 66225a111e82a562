package dev.loadline.bed;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.ECGenParameterSpec;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;

/**
 * A PKCS#12 keystore with one self-signed certificate (RFC 5280) for localhost. Made here, because
 * the JDK's keytool costs a JVM of its own and with it most of a small site's start.
 */
public final class KeyStoreFile {
    /** Of the certificate. */
    public enum Key {
        /** RSA, 2048 bits. */
        RSA("RSA-2048"),
        /** ECDSA on P-256. */
        EC("P-256");

        private final String title;

        Key(String title) {
            this.title = title;
        }

        /** For people. */
        public String title() {
            return title;
        }
    }

    /** Names the key in the store. */
    public static final String ALIAS = "bed";
    /** Guards nothing: the key is made for one run, lies in a directory of mode 700, and is deleted. */
    public static final String PASSWORD = "bed-password";
    private static final int DAYS = 30;
    private static final int SERIAL_BITS = 64;
    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private KeyStoreFile() {
    }

    /** Makes {@code keystore.p12}, which only its owner can read, in that directory. */
    public static Path create(Path dir, Key key) throws IOException {
        Path file = dir.resolve("keystore.p12");
        KeyStore store = inMemory(key);
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            try (var out = Files.newOutputStream(file, StandardOpenOption.TRUNCATE_EXISTING)) {
                store.store(out, PASSWORD.toCharArray());
            }
            return file;
        } catch (GeneralSecurityException e) {
            throw new IOException("no certificate: " + e.getMessage(), e);
        }
    }

    /** The same, without a file. */
    public static KeyStore inMemory(Key key) throws IOException {
        try {
            KeyPair pair = pair(key);
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry(ALIAS, pair.getPrivate(), PASSWORD.toCharArray(), new Certificate[] {selfSigned(pair, key)});
            return store;
        } catch (GeneralSecurityException e) {
            throw new IOException("no certificate: " + e.getMessage(), e);
        }
    }

    private static KeyPair pair(Key key) throws GeneralSecurityException {
        var generator = KeyPairGenerator.getInstance(key == Key.RSA ? "RSA" : "EC");
        if (key == Key.RSA) {
            generator.initialize(2048);
        } else {
            generator.initialize(new ECGenParameterSpec("secp256r1"));
        }
        return generator.generateKeyPair();
    }

    private static Certificate selfSigned(KeyPair pair, Key key) throws GeneralSecurityException {
        boolean rsa = key == Key.RSA;
        // sha256WithRSAEncryption (RFC 4055), ecdsa-with-SHA256 (RFC 5758)
        byte[] algorithm = rsa ? Der.sequence(Der.oid("1.2.840.113549.1.1.11"), Der.nothing())
            : Der.sequence(Der.oid("1.2.840.10045.4.3.2"));
        byte[] commonName = Der.oid("2.5.4.3");
        byte[] name = Der.sequence(Der.set(Der.sequence(commonName, Der.utf8("localhost"))));
        ZonedDateTime now = ZonedDateTime.now(ZoneOffset.UTC);
        byte[] subjectAlternativeName = Der.sequence(Der.oid("2.5.29.17"),
            Der.octets(Der.sequence(Der.of(0x82, "localhost".getBytes()), Der.of(0x87, LOOPBACK))));
        byte[] unsigned = Der.sequence(
            Der.of(0xA0, Der.integer(BigInteger.TWO)), // version 3
            Der.integer(new BigInteger(SERIAL_BITS, new SecureRandom())), algorithm, name,
            Der.sequence(Der.time(now.minusDays(1)), Der.time(now.plusDays(DAYS))), name, pair.getPublic().getEncoded(),
            Der.of(0xA3, Der.sequence(subjectAlternativeName)));
        var signature = Signature.getInstance(rsa ? "SHA256withRSA" : "SHA256withECDSA");
        signature.initSign(pair.getPrivate());
        signature.update(unsigned);
        byte[] whole = Der.sequence(unsigned, algorithm, Der.bits(signature.sign()));
        return CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(whole));
    }
}
