package dev.loadline.clinic.run;

import dev.loadline.bed.PortFile;
import java.io.IOException;
import java.nio.file.Files;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** Says where the site is, once it answers: one line, and the port file if one was asked for. */
@Component
class PortAnnouncement implements DisposableBean {
    private final ClinicProperties properties;

    PortAnnouncement(ClinicProperties properties) {
        this.properties = properties;
    }

    @EventListener
    void ready(ApplicationReadyEvent event) throws IOException {
        int port = ((WebServerApplicationContext) event.getApplicationContext()).getWebServer().getPort();
        System.out.printf("clinic: ready on %s://127.0.0.1:%d/ (pid %d, JDK %d, %.1f s)%n", properties.tls() ? "https" : "http",
            port, ProcessHandle.current().pid(), Runtime.version().feature(), event.getTimeTaken().toMillis() / 1e3);
        if (properties.portFile() != null) {
            PortFile.write(properties.portFile(), port);
        }
    }

    @Override
    public void destroy() throws IOException {
        if (properties.portFile() != null) {
            Files.deleteIfExists(properties.portFile());
        }
    }
}
