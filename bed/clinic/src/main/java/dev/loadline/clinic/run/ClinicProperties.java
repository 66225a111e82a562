package dev.loadline.clinic.run;

import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What Spring's own properties do not cover.
 *
 * @param tls whether it speaks HTTPS, with a certificate made at start, instead of HTTP
 * @param portFile where the port is written once the site answers, or null; deleted at the end
 * @param maxSeconds after which it ends by itself; 0: never
 * @param owners how many owners the database has; pets, visits and vets follow
 */
@ConfigurationProperties("clinic")
public record ClinicProperties(boolean tls, Path portFile, @DefaultValue("0") int maxSeconds, @DefaultValue("2000") int owners) {
    /** Refuses what makes no sense. */
    public ClinicProperties {
        if (maxSeconds < 0) {
            throw new IllegalArgumentException("clinic.max-seconds is " + maxSeconds + "; it must be 0 or more");
        }
        if (owners < 1) {
            throw new IllegalArgumentException("clinic.owners is " + owners + "; it must be 1 or more");
        }
    }
}
