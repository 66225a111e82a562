package dev.loadline.clinic.run;

import dev.loadline.bed.KeyStoreFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.web.server.ConfigurableWebServerFactory;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/** HTTPS with a self-signed certificate for localhost, which lives as long as the site. */
@Component
@ConditionalOnBooleanProperty("clinic.tls")
class OwnCertificate implements WebServerFactoryCustomizer<ConfigurableWebServerFactory>, DisposableBean {
    private Path dir;
    private Path file;

    @Override
    public void customize(ConfigurableWebServerFactory factory) {
        try {
            dir = Files.createTempDirectory("clinic-");
            file = KeyStoreFile.create(dir, KeyStoreFile.Key.RSA);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        var ssl = new Ssl();
        ssl.setKeyStore(file.toUri().toString());
        ssl.setKeyStorePassword(KeyStoreFile.PASSWORD);
        ssl.setKeyStoreType("PKCS12");
        ssl.setKeyAlias(KeyStoreFile.ALIAS);
        factory.setSsl(ssl);
    }

    @Override
    public void destroy() throws IOException {
        if (file != null) {
            Files.deleteIfExists(file);
        }
        if (dir != null) {
            Files.deleteIfExists(dir);
        }
    }
}
