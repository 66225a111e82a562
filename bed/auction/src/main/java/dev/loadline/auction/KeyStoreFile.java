package dev.loadline.auction;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A PKCS#12 keystore with one self-signed certificate for localhost, made by the JDK's keytool. */
final class KeyStoreFile {
    static final String ALIAS = "auction";
    /** Guards nothing: the key is made for one run, lies in a directory of mode 700, and is deleted. */
    static final String PASSWORD = "auction";

    private KeyStoreFile() {
    }

    static Path create(Path dir, Config.Key key) throws IOException, InterruptedException {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        if (!Files.isExecutable(keytool)) {
            throw new IOException("no " + keytool + ": run the site on a complete JDK, its certificate is made by keytool");
        }
        Path file = dir.resolve("keystore.p12");
        Path output = dir.resolve("keytool.out");
        var command = new ArrayList<>(List.of(keytool.toString(), "-genkeypair",
            "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC",
            "-alias", ALIAS, "-dname", "CN=localhost, O=Auction test bed",
            "-ext", "SAN=DNS:localhost,IP:127.0.0.1", "-validity", "30",
            "-keystore", file.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(switch (key) {
            case RSA -> List.of("-keyalg", "RSA", "-keysize", "2048", "-sigalg", "SHA256withRSA");
            case EC -> List.of("-keyalg", "EC", "-groupname", "secp256r1", "-sigalg", "SHA256withECDSA");
        });
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        // Agents and options meant for the site are not meant for keytool.
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        builder.environment().remove("JDK_JAVA_OPTIONS");
        int status = builder.start().waitFor();
        if (status != 0) {
            throw new IOException("keytool ended with " + status + ": "
                + Files.readString(output, StandardCharsets.UTF_8).strip());
        }
        return file;
    }
}
